"""Run programs within limits: killed in time with all their children, output bounded."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from trialrun.agents.base import LARGEST_ANSWER, LARGEST_NOTE, tail

_GRACE = 0.3

MARK = "TRIALRUN_PROCESS"
"""Environment variable that marks every process that a program of a run has started."""


class Reaper:
    """Controls the process that kills what agents leave behind, and everything if trialrun dies.

    A process group holds most of what a program starts. A process that leaves its group (`setsid`,
    a daemon) still has the mark in the environment that it inherited.
    """

    def __init__(self, memory_limit: int | None = None) -> None:
        self.memory_limit = memory_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._name = secrets.token_hex(8)
        self._marked = 0
        self._marks: dict[int, str] = {}

    def marked(self, environment: Mapping[str, str] | None = None) -> dict[str, str]:
        """The marked environment for a program that is about to start; starts the reaper first."""
        self._start()
        self._marked += 1
        return {**os.environ, **(environment or {}), MARK: f"{self._name}-{self._marked}-"}

    def watch(self, group: int, environment: Mapping[str, str]) -> None:
        """Register a process group that has started with this environment."""
        limit_memory(group, self.memory_limit)
        self._marks[group] = environment[MARK]
        self._send(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Unregister an ended process group; processes that left the group are killed now."""
        self._send(f"-{group} {self._marks.pop(group)}\n")

    def _start(self) -> None:
        if self._process is None:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", str(Path(__file__).with_name("reaper.py"))),
                    *(MARK, f"{self._name}-"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _send(self, line: str) -> None:
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()

    def close(self) -> None:
        """Kill everything that is left, and end the reaper."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def limit_memory(process: int, limit: int | None) -> None:
    """Limit an agent's memory, so that endless allocation hits its limit before the machine's.

    If the machine runs out of memory all the same, the kernel kills the agent, not trialrun.
    """
    try:
        if limit is not None:
            _limit_data(process, limit)
        Path(f"/proc/{process}/oom_score_adj").write_text("800")
    except (AttributeError, ImportError, OSError, ValueError):
        return  # not supported here, or the process has ended


def _limit_data(process: int, limit: int) -> None:
    """Set the limit unless the process has reserved more already, which it does not use.

    The runtime of Claude Code reserves 72 GB as it starts. It does with less where the limit is
    lower by then; where the limit comes later, its next allocation fails and it crashes.
    """
    import resource

    soft, hard = resource.prlimit(process, resource.RLIMIT_DATA)
    if not _has_reserved(process, limit):
        resource.prlimit(process, resource.RLIMIT_DATA, (limit, hard))
        late = _has_reserved(process, limit)  # it may have happened in between
        kept = (soft, hard) if late else (limit, limit)
        resource.prlimit(process, resource.RLIMIT_DATA, kept)


def _has_reserved(process: int, limit: int) -> bool:
    """Whether a process has reserved more than the limit, and uses less."""
    sizes = Path(f"/proc/{process}/statm").read_text().split()
    used, data = (int(sizes[place]) * os.sysconf("SC_PAGE_SIZE") for place in (1, 5))
    return used < limit <= data


def memory_of_machine() -> int | None:
    """The memory of this machine or container, in bytes."""
    sizes = []
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(OSError, ValueError):
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(sizes) if sizes else None


def kill_group(group: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to a process and its children in the same group."""
    with contextlib.suppress(OSError):
        os.killpg(group, number)


class Ended(Struct, kw_only=True):
    """How a program ended. `code` is None if it did not start or was killed by trialrun."""

    code: int | None = None
    out: bytes = b""
    err: str = ""
    timed_out: bool = False
    too_large: bool = False
    still_open: bool = False  # another process could still write to its stdout
    not_started: str | None = None

    def how(self) -> str:
        """How it ended, in words, with the end of its stderr."""
        if self.not_started is not None:
            return self.not_started
        said = f": {self.err.strip()[-2000:]}" if self.err.strip() else ""
        return f"{ending(self.code)}{said}"


def ending(code: int | None) -> str:
    """An exit code in words: `exit 7`, `killed by SIGSEGV`."""
    if code is None or code >= 0:
        return f"exit {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


async def run_program(
    command: Sequence[str],
    *,
    reaper: Reaper,
    limit: float,
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
    data: bytes = b"",
) -> Ended:
    """Run a program until it ends or exceeds its limit; none of its processes stays behind."""
    loop = asyncio.get_running_loop()
    marked_environment = reaper.marked(environment)
    try:
        transport, program = await loop.subprocess_exec(
            _Program,
            *command,
            cwd=folder,
            env=marked_environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ended(not_started=_why_not_started(command[0], folder, error))
    group = transport.get_pid()
    reaper.watch(group, marked_environment)
    try:
        _send(transport, data)
        await asyncio.wait((program.is_over,), timeout=limit)
        late = not program.has_ended
        if late and not program.overflows:
            kill_group(group, signal.SIGTERM)
            await asyncio.wait((program.exited,), timeout=_GRACE)
        # A child that was left behind keeps the pipes open: do not wait for it.
        await asyncio.wait((program.silent,), timeout=_GRACE)
        still_open = program.can_still_print
    finally:
        kill_group(group)
        await asyncio.wait((program.exited,))
        transport.close()
        reaper.forget(group)
    return Ended(
        code=None if late else transport.get_returncode(),
        out=bytes(program.out),
        err=tail(program.err.decode("utf-8", "replace")),
        timed_out=late and not program.overflows,
        too_large=program.overflows,
        still_open=still_open,
    )


def _why_not_started(program: str, folder: str | None, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        if folder is not None and not Path(folder).is_dir():
            return f"the folder {folder} does not exist"
        return f"the command `{program}` was not found"
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"the command `{program}` cannot be started: {reason}"


def _send(transport: asyncio.SubprocessTransport, data: bytes) -> None:
    """Write to its stdin; a program need not read all of it."""
    stdin = transport.get_pipe_transport(0)
    assert isinstance(stdin, asyncio.WriteTransport)
    stdin.write(data)
    stdin.write_eof()


class _Program(asyncio.SubprocessProtocol):
    """Collects the bounded output of a program and notes when it ends.

    asyncio's own `Process.wait` would also wait for the pipes, and so for any child that the
    program left behind.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.out = bytearray()
        self.err = bytearray()
        self.overflows = False
        self.has_ended = False
        self.exited = loop.create_future()
        self.silent = loop.create_future()
        self.is_over = loop.create_future()  # it ended, or printed too much
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.err += data
            if len(self.err) > 4 * LARGEST_NOTE:
                del self.err[: -2 * LARGEST_NOTE]
        elif len(self.out) <= LARGEST_ANSWER:
            self.out += data
        else:
            self.overflows = True
            _settle(self.is_over)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            _settle(self.silent)

    @property
    def can_still_print(self) -> bool:
        """Whether stdout is still open: what was read may be a part of the answer."""
        return 1 in self._open

    def process_exited(self) -> None:
        self.has_ended = not self.is_over.done()
        _settle(self.exited)
        _settle(self.is_over)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
