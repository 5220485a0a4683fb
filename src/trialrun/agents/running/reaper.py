"""A small process that outlives us by a moment: it ends what agents left running.

It is told on stdin which process groups we have (`+123`), and which are gone (`-123 mark`): what
left such a group is then killed by the mark in its environment. Where we end, however we end, its
stdin is closed, and all that is left of this run is killed. Without it, an agent whose trialrun was
killed would go on spending money, and would answer into the void.

Run by its path with `python -I -S`: it imports nothing of ours and is there in a few milliseconds.
"""

from __future__ import annotations

import os
import signal
import sys

_ROUNDS = 20
"""A program may start others while we look: they are looked for again, but not for ever."""


def main(variable: str, run: str) -> None:
    """Follow what is said on stdin until it ends, then kill what is left."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        number, _, mark = line[1:].strip().partition(" ")
        if line[0] == "+":
            groups.add(int(number))
        else:
            groups.discard(int(number))
            _kill_marked(f"{variable}={mark}")
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except OSError:
            continue  # it ended by itself
    _kill_marked(f"{variable}={run}")


def _kill_marked(mark: str) -> None:
    """Kill every process whose environment holds the mark; where there is no /proc, none."""
    wanted = mark.encode()
    for _ in range(_ROUNDS):
        found = [process for process in _processes() if _has(process, wanted)]
        if not found:
            return
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue


def _processes() -> list[int]:
    try:
        names = os.listdir("/proc")  # noqa: PTH208
    except OSError:
        return []
    return [int(name) for name in names if name.isdecimal()]


def _has(process: int, mark: bytes) -> bool:
    try:
        # Without a buffer: this is done for every process of the machine.
        descriptor = os.open(f"/proc/{process}/environ", os.O_RDONLY)
    except OSError:
        return False
    try:
        environment = b""
        while part := os.read(descriptor, 1 << 20):
            environment += part
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return environment.startswith(mark) or b"\0" + mark in environment


if __name__ == "__main__":
    main(*sys.argv[1:])
