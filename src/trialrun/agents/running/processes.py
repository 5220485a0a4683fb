"""Programs within limits: ended in time with all that they started, their output bounded."""

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
"""The environment variable by which everything that a program of a run started is known."""


class Keeper:
    """Our end of the process that kills what agents leave behind, and all of it if we are killed.

    A process group holds most of what a program starts. What leaves the group (`setsid`, a daemon)
    is known by the mark in its environment, which it has from the program that started it.
    """

    def __init__(self, memory_limit: int | None = None) -> None:
        self.memory_limit = memory_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._name = secrets.token_hex(8)
        self._marked = 0
        self._marks: dict[int, str] = {}

    def marked(self, environment: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment for a program that is about to start; the keeper is there before it."""
        self._start()
        self._marked += 1
        return {**os.environ, **(environment or {}), MARK: f"{self._name}-{self._marked}-"}

    def watch(self, group: int, environment: Mapping[str, str]) -> None:
        """A process group began, with this environment."""
        limit_memory(group, self.memory_limit)
        self._marks[group] = environment[MARK]
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """A process group is gone; what left it goes now."""
        self._tell(f"-{group} {self._marks.pop(group)}\n")

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

    def _tell(self, line: str) -> None:
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()

    def close(self) -> None:
        """All is over: whatever is still there goes now."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def limit_memory(process: int, limit: int | None) -> None:
    """An agent that allocates without end meets its own limit before the machine's.

    And should the machine run out all the same, the kernel takes the agent, not the run.
    """
    try:
        import resource

        if limit is not None:
            resource.prlimit(process, resource.RLIMIT_DATA, (limit, limit))
        Path(f"/proc/{process}/oom_score_adj").write_text("800")
    except (AttributeError, ImportError, OSError, ValueError):
        return  # not this system's way, or it is over already


def memory_of_machine() -> int | None:
    """Bytes of memory that this machine, or the container that we are in, has."""
    sizes = []
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(OSError, ValueError):
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(sizes) if sizes else None


def kill_group(group: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to a process and all that it started."""
    with contextlib.suppress(OSError):
        os.killpg(group, number)


class Ended(Struct, kw_only=True):
    """How a program ended. `code` is None if it could not be started or was ended by us."""

    code: int | None = None
    out: bytes = b""
    err: str = ""
    timed_out: bool = False
    too_large: bool = False
    not_started: str | None = None

    def how(self) -> str:
        """How it ended, in words; the end of what it said on stderr with it."""
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
    keeper: Keeper,
    limit: float,
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
    data: bytes = b"",
) -> Ended:
    """Run a program to its end, or to the end of its time; nothing of it is left running."""
    loop = asyncio.get_running_loop()
    surroundings = keeper.marked(environment)
    try:
        transport, program = await loop.subprocess_exec(
            _Program,
            *command,
            cwd=folder,
            env=surroundings,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ended(not_started=_why_not_started(command[0], folder, error))
    group = transport.get_pid()
    keeper.watch(group, surroundings)
    try:
        _tell(transport, data)
        await asyncio.wait((program.is_over,), timeout=limit)
        late = not program.has_ended
        if late and not program.overflows:
            kill_group(group, signal.SIGTERM)
            await asyncio.wait((program.exited,), timeout=_GRACE)
        # A child that it left behind holds the pipes open: that is not waited for.
        await asyncio.wait((program.silent,), timeout=_GRACE)
    finally:
        kill_group(group)
        await asyncio.wait((program.exited,))
        transport.close()
        keeper.forget(group)
    return Ended(
        code=None if late else transport.get_returncode(),
        out=bytes(program.out),
        err=tail(program.err.decode("utf-8", "replace")),
        timed_out=late and not program.overflows,
        too_large=program.overflows,
    )


def _why_not_started(program: str, folder: str | None, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        if folder is not None and not Path(folder).is_dir():
            return f"the folder {folder} does not exist"
        return f"the command `{program}` was not found"
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"the command `{program}` cannot be started: {reason}"


def _tell(transport: asyncio.SubprocessTransport, data: bytes) -> None:
    """What it is told on stdin; one that does not want to hear all of it is free not to."""
    stdin = transport.get_pipe_transport(0)
    assert isinstance(stdin, asyncio.WriteTransport)
    stdin.write(data)
    stdin.write_eof()


class _Program(asyncio.SubprocessProtocol):
    """What a program prints, bounded, and when it ends.

    asyncio's own `Process.wait` would wait for the pipes too, and so for any child that the
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
        self.is_over = loop.create_future()  # it ended, or printed more than anybody takes
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

    def process_exited(self) -> None:
        self.has_ended = not self.is_over.done()
        _settle(self.exited)
        _settle(self.is_over)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
