"""A small process that outlives trialrun by a moment and kills what agents left running.

It reads on stdin which process groups exist (`+123`) and which have ended (`-123 mark`). When a
group has ended, processes that left it are found by the mark in their environment and killed. When
trialrun ends, however that happens, stdin is closed, and everything left of the run is killed.
Otherwise an agent would continue to spend money after trialrun was killed.

Run by its path with `python -I -S`: it imports no trialrun module and starts in milliseconds.
"""

from __future__ import annotations

import os
import signal
import sys

_MOST_PASSES = 20
"""Most scans for marked processes: a program may start others during a scan."""


def main(variable: str, run: str) -> None:
    """Follow the messages on stdin until it is closed, then kill what is left."""
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
            continue  # it has already ended
    _kill_marked(f"{variable}={run}")


def _kill_marked(mark: str) -> None:
    """Kill every process whose environment has the mark; without /proc, none is found."""
    wanted = mark.encode()
    for _ in range(_MOST_PASSES):
        found = [process for process in _processes() if _has_mark(process, wanted)]
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


def _has_mark(process: int, mark: bytes) -> bool:
    try:
        # Unbuffered: this is done for every process of the machine.
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
