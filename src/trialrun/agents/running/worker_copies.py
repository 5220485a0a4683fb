"""Answer each question in a forked copy of a worker that has only imported the agent.

Whatever a case does to its process (globals, patched modules, limits, signals, open files) ends
with its copy. The copy does not get the socket to the run: it writes one reply to a pipe, and the
worker, in which no agent ever runs, passes it on.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import time
from typing import NoReturn

from trialrun.agents.base import LARGEST_ANSWER
from trialrun.agents.running import worker_calls
from trialrun.agents.running.worker_calls import Function, answer_of, failed, flush
from trialrun.agents.running.worker_channel import Channel, Message, frame
from trialrun.agents.running.worker_protocol import FRAME_OVERHEAD, LENGTH
from trialrun.agents.running.worker_state import has_children
from trialrun.util.texts import counted

_POLL_SECONDS = 0.02
"""How often to look for the end of a copy where the system has no pidfd."""


def why_not_forked() -> str | None:
    """Why this process cannot be copied safely; None if it can.

    A copy has only the thread that forked it: a lock that another thread held stays locked.
    """
    if not hasattr(os, "fork"):
        return "this system cannot fork"
    try:
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    except OSError:
        import threading

        threads = threading.active_count()
    return f"its import started {counted(threads - 1, 'thread')}" if threads > 1 else None


def serve_in_copies(channel: Channel, agent: Function) -> None:
    """Answer the questions of the run, one at a time, until it closes the channel."""
    _load_readers()
    flush()  # a copy would print it again
    gc.freeze()  # a collection in a copy would touch, and so duplicate, every page
    on_child = signal.getsignal(signal.SIGCHLD)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored at import, ends could not be seen
    while messages := channel.receive():
        for message in messages:
            channel.send_bytes(_answer_in_copy(channel, agent, message, on_child))


_FRAMEWORKS = frozenset(
    {"agents", "anthropic", "autogen_agentchat", "langchain_core", "openai", "pydantic_ai"}
    | {"crewai", "google.adk", "llama_index.core"}
)


def _load_readers() -> None:
    """Import what reads the results of frameworks once, and not in each copy (30 ms of CPU)."""
    if _FRAMEWORKS & sys.modules.keys():
        from trialrun.capture.results import load_readers

        load_readers()


def _answer_in_copy(channel: Channel, agent: Function, message: Message, on_child: object) -> bytes:
    """The reply to a question, as bytes for the run."""
    began = time.perf_counter()
    reading, writing = os.pipe()
    try:
        copy = os.fork()
    except OSError as error:
        os.close(reading)
        os.close(writing)
        why = f"the agent's process cannot be copied: {error.strerror}"
        return _reply(message, {"failure": why}, began)
    if copy == 0:
        _run_copy(channel, agent, message, reading, writing, on_child)
    os.close(writing)
    try:
        body, code = _collect(reading, copy)
    finally:
        os.close(reading)
    if not body:
        return _reply(message, {"died": code}, began)
    if len(body) < LENGTH.size or len(body) != LENGTH.size + LENGTH.unpack_from(body)[0]:
        why = "the agent's process wrote to the channel of its worker"
        return _reply(message, {"failure": why, "leftovers": True}, began)
    return bytes(body)


def _reply(message: Message, outcome: Message, began: float) -> bytes:
    spent = (time.perf_counter() - began) * 1000
    return frame({"id": message["id"], "key": message["key"], "duration_ms": spent, **outcome})


def _run_copy(
    channel: Channel,
    agent: Function,
    message: Message,
    reading: int,
    writing: int,
    on_child: object,
) -> NoReturn:
    """The life of a copy: one call, one reply."""
    try:
        worker_calls.own_process()
        os.close(reading)
        channel.connection.close()
        os.set_inheritable(writing, False)
        signal.signal(signal.SIGCHLD, on_child)  # type: ignore[arg-type]
        _reseed()
        began = time.perf_counter()
        try:
            if message.get("folder") is not None:
                os.chdir(message["folder"])
                os.environ["TRIALRUN_WORKDIR"] = message["folder"]
            outcome = answer_of(agent, message)
        except BaseException as error:
            outcome = failed(error)
        worker_calls.end_if_forked()
        flush()
        outcome["duration_ms"] = (time.perf_counter() - began) * 1000
        outcome["leftovers"] = has_children()
        data = memoryview(frame({"id": message["id"], "key": message["key"], **outcome}))
        while data:
            data = data[os.write(writing, data) :]
    finally:
        os._exit(0)


def _reseed() -> None:
    """Random numbers that differ between copies; Python does this for its own `random`."""
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        with contextlib.suppress(Exception):
            numpy.seed()


def _collect(reading: int, copy: int) -> tuple[bytearray, int]:
    """What the copy wrote until its end, and its exit code, negative for a signal.

    The end of the copy counts, not that of the pipe, which a process that it forked may hold open.
    """
    os.set_blocking(reading, False)
    received = bytearray()
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    is_open = True
    ended = _descriptor_of(copy)
    if ended is not None:
        poll.register(ended, select.POLLIN)
    try:
        while True:
            poll.poll(None if ended is not None else _POLL_SECONDS * 1000)
            process, status = os.waitpid(copy, os.WNOHANG)
            if is_open and not _read(reading, received):
                poll.unregister(reading)
                is_open = False
            if process:
                return received, os.waitstatus_to_exitcode(status)
            if len(received) > LARGEST_ANSWER + FRAME_OVERHEAD:
                os.kill(copy, signal.SIGKILL)
    finally:
        if ended is not None:
            os.close(ended)


def _read(reading: int, received: bytearray) -> bool:
    """Read what is there; False at the end of the pipe."""
    try:
        while chunk := os.read(reading, 1 << 20):
            received += chunk
            if len(received) > LARGEST_ANSWER + FRAME_OVERHEAD:
                return True
    except BlockingIOError:
        return True
    return False


def _descriptor_of(process: int) -> int | None:
    """A descriptor that is readable once the process has ended; None where there are none."""
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):
        return None
