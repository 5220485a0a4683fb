"""The main program of a worker process: import an agent, then answer questions.

A plain function has the worker to itself while it runs. Coroutine functions share its event loop; a
separate thread reads the messages of the run, so that a case can be cancelled, and a blocked loop
can still be reported.

The run uses a separate socket: stdout and stderr belong to the agent.
"""

from __future__ import annotations

import asyncio
import inspect
import locale
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from trialrun.agents.base import LARGEST_NOTE, Failure
from trialrun.agents.running import answers
from trialrun.agents.running.worker_protocol import LENGTH, decoded, encoded

Message = dict[str, Any]

_TOO_LONG = {
    "failure": "the agent's answer cannot be written: it has a number of more than 64 bits"
}


def main(arguments: list[str]) -> None:
    """Serve the run at the other end of the socket until it closes it.

    Ends with `os._exit`: the interpreter's shutdown would wait for threads that an agent left.
    """
    try:
        _serve(arguments)
    except BaseException:
        traceback.print_exc()
    _flush()
    os._exit(0)


def _serve(arguments: list[str]) -> None:
    channel = Channel(socket.socket(fileno=int(arguments[0])))
    reference, folder = arguments[1], arguments[2]
    sys.argv = [reference or "trialrun-worker"]
    sys.path.insert(0, folder)
    try:
        call = Function(reference, folder) if reference else None
    except Exception as error:  # PluginError explains itself; anything else is a bug in trialrun
        channel.send({"broken": str(error), "traceback": shown_traceback(error)})
        return
    is_async = call is not None and call.is_async
    takes = call.parameters if call is not None else 0
    needs = call.required if call is not None else 0
    channel.send({"ready": True, "is_async": is_async, "parameters": takes, "required": needs})
    if is_async:
        assert call is not None
        asyncio.run(_serve_together(channel, call))
    else:
        _serve_one_by_one(channel, call, folder)


class Channel:
    """The socket to the run, which closes it at its end."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.set_inheritable(False)  # not for programs that an agent starts
        self.owner = os.getpid()
        self._sending = threading.Lock()
        self._received = bytearray()

    def send(self, *messages: Message) -> None:
        """Send messages. A forked child exits: its messages would look like those of its parent."""
        if os.getpid() != self.owner:
            os._exit(0)
        data = b"".join(map(_encoded, messages))
        with self._sending:
            self.connection.sendall(data)

    def receive(self) -> list[Message]:
        """The messages that have arrived, at least one; empty at the end of the run."""
        messages: list[Message] = []
        while not messages:
            try:
                chunk = self.connection.recv(1 << 18)
            except ConnectionError:
                return []
            if not chunk:
                return []
            self._received += chunk
            done = 0
            while (size := _message_size_at(self._received, done)) is not None:
                start = done + LENGTH.size
                done = start + size
                messages.append(decoded(bytes(self._received[start:done])))
            del self._received[:done]
        return messages


def _message_size_at(received: bytearray, start: int) -> int | None:
    """The size of the message at `start`; None if it is not complete yet."""
    if len(received) < start + LENGTH.size:
        return None
    size: int = LENGTH.unpack_from(received, start)[0]
    return size if len(received) >= start + LENGTH.size + size else None


def _encoded(message: Message) -> bytes:
    try:
        return encoded(message)
    except OverflowError:  # MessagePack has 64-bit integers, Python's are unlimited
        return encoded(
            {key: value for key, value in message.items() if key != "answer"} | _TOO_LONG
        )


class Function:
    """A function that a spec names, and how many arguments it takes."""

    def __init__(self, reference: str, folder: str) -> None:
        from trialrun.errors import PluginError
        from trialrun.registry import import_object

        found = import_object(reference, folder)
        if isinstance(found, type) or not callable(found):
            raise PluginError(f"`{reference}` is {type(found).__name__}, not a function")
        self.function: Callable[..., Any] = found
        called = found if inspect.isroutine(found) else found.__call__
        self.is_async = inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(called)
        self.required, self.parameters = _positional(found)

    def __call__(self, *given: Any) -> Any:
        """Call it with as many of the given values as it takes."""
        return self.function(*given[: self.parameters])


def _positional(function: Callable[..., Any]) -> tuple[int, int]:
    """How many positional arguments it needs and takes; 1 for builtins without a signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1, 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    placed = [parameter for parameter in parameters if parameter.kind in kinds]
    needed = sum(parameter.default is parameter.empty for parameter in placed)
    open_ended = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return needed, 9 if open_ended else len(placed)


# One question at a time


def _serve_one_by_one(channel: Channel, agent: Function | None, folder: str) -> None:
    state = ProcessState()
    functions: dict[str, Function] = {}
    while messages := channel.receive():
        for message in messages:
            began = time.perf_counter()
            try:
                state.enter(message.get("folder"))
                if agent is not None:
                    outcome = _answer_of(agent, message)
                else:
                    outcome = _call_action(functions, message, folder)
            except BaseException as error:
                outcome = _failed(error)
            _flush()
            outcome["duration_ms"] = (time.perf_counter() - began) * 1000
            outcome["leftovers"] = state.leave()
            channel.send({"id": message["id"], **outcome})


def _answer_of(agent: Function, message: Message) -> Message:
    value = agent(message["input"], message["history"])
    if inspect.isawaitable(value):  # a plain function that returns a coroutine
        value = asyncio.run(_awaited(value))
    return _outcome(value)


async def _awaited(value: Any) -> Any:
    return await value


def _call_action(functions: dict[str, Function], message: Message, folder: str) -> Message:
    """Call a function of `setup`, `teardown` or `state` with the folder and the answer."""
    reference = message["function"]
    if reference not in functions:
        functions[reference] = Function(reference, folder)
    if message.get("only_import"):
        return {"returned": True}
    value = functions[reference](Path(message["folder"]), message.get("answer"))
    if inspect.isawaitable(value):
        value = asyncio.run(_awaited(value))
    return {"returned": value if value is None or isinstance(value, (bool, str)) else repr(value)}


def _outcome(value: Any) -> Message:
    found = answers.from_returned(value)
    if isinstance(found, Failure):
        return {"failure": found.message}
    return {"answer": found}


def _failed(error: BaseException) -> Message:
    """The outcome of an exception of an agent, `sys.exit` and Ctrl-C included."""
    if os.getpid() != _OWNER:  # a child that the agent forked must not answer
        os._exit(1)
    failure = answers.from_exception(error)
    return {
        "failure": failure.message,
        "assertion": isinstance(error, AssertionError),
        "transient": failure.transient,
        "retry_after": failure.retry_after,
        "traceback": shown_traceback(error),
    }


_OWNER = os.getpid()


def shown_traceback(error: BaseException) -> str:
    """The end of its traceback, as much as is kept."""
    try:
        return "".join(traceback.format_exception(error))[-LARGEST_NOTE:]
    except Exception:
        return ""


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue


class ProcessState:
    """Process-wide state that an agent may change; restored after each case."""

    def __init__(self) -> None:
        self.folder = str(Path.cwd())
        self.environment = dict(os.environ)
        self.path = list(sys.path)
        self.locale = locale.setlocale(locale.LC_ALL)
        self.streams = (sys.stdin, sys.stdout, sys.stderr)
        self.threads = _busy_threads()

    def enter(self, folder: str | None) -> None:
        """Change to the case's working folder, if it has one."""
        if folder is not None:
            os.chdir(folder)
            os.environ["TRIALRUN_WORKDIR"] = folder

    def leave(self) -> bool:
        """Restore everything; whether threads or children of the case are still running."""
        if _working_folder() != self.folder:
            os.chdir(self.folder)
        if os.environ != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        if locale.setlocale(locale.LC_ALL) != self.locale:
            locale.setlocale(locale.LC_ALL, self.locale)
        sys.path[:] = self.path
        sys.stdin, sys.stdout, sys.stderr = self.streams
        signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm would interrupt the next case
        return _busy_threads() > self.threads or _has_children()


def _working_folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return None


def _busy_threads() -> int:
    """The number of threads that may still do something, without idle pool threads.

    Many libraries keep such pools: a new worker after each case would repeat all their imports.
    """
    return sum(
        not (
            frame.f_code.co_name == "_worker"
            and frame.f_code.co_filename.endswith(_THREAD_POOL_FILE)
        )
        for frame in sys._current_frames().values()
    )


_THREAD_POOL_FILE = os.path.join("concurrent", "futures", "thread.py")  # noqa: PTH118


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


# Several questions at the same time, on one event loop

_PRINTED: ContextVar[list[str] | None] = ContextVar("printed", default=None)


class _OutputRouter:
    """stdout or stderr of a shared worker: stores what a case prints with that case."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        kept = _PRINTED.get()
        if kept is None:
            return int(self._stream.write(text))
        kept.append(text)
        if len(kept) > 256 or len(text) > LARGEST_NOTE:
            kept[:] = ["".join(kept)[-LARGEST_NOTE:]]
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _LoopDelay:
    """Measures how long the loop was blocked, by a task that should wake every 50 ms."""

    def __init__(self) -> None:
        self.lost = 0.0
        self.last = time.monotonic()

    async def beat(self) -> None:
        """Add up the delay, forever."""
        while True:
            await asyncio.sleep(_BEAT)
            now = time.monotonic()
            self.lost += max(0.0, now - self.last - _BEAT - _LATENESS)
            self.last = now

    def delayed(self) -> float:
        """Seconds lost so far, including the time of a task that blocks the loop right now."""
        return self.lost + max(0.0, time.monotonic() - self.last - _BEAT - _LATENESS)


_BEAT = 0.05
_LATENESS = 0.05  # normal on a busy machine


async def _serve_together(channel: Channel, agent: Function) -> None:
    await _SharedWorker(channel, agent).serve()


class _SharedWorker:
    """Answers several questions at the same time on one event loop."""

    def __init__(self, channel: Channel, agent: Function) -> None:
        self.channel = channel
        self.agent = agent
        self.loop = asyncio.get_running_loop()
        self.state = ProcessState()
        sys.stdout, sys.stderr = _OutputRouter(sys.stdout), _OutputRouter(sys.stderr)
        self.state.streams = (sys.stdin, sys.stdout, sys.stderr)
        self.running: dict[int, asyncio.Task[None]] = {}
        self.unsent: list[Message] = []
        self.delay = _LoopDelay()
        self.over = asyncio.Event()

    async def serve(self) -> None:
        """Serve until the run closes the channel."""
        beating = self.loop.create_task(self.delay.beat())
        threading.Thread(target=self.listen, daemon=True).start()
        await self.over.wait()
        beating.cancel()
        os._exit(0)  # do not wait for tasks that ignore being cancelled

    async def answer(self, message: Message) -> None:
        began = time.perf_counter()
        printed: list[str] = []
        _PRINTED.set(printed)
        try:
            self.state.enter(message.get("folder"))
            outcome = _outcome(await self.agent(message["input"], message["history"]))
        except BaseException as error:
            outcome = _failed(error)
        outcome["duration_ms"] = (time.perf_counter() - began) * 1000
        if printed:
            outcome["printed"] = "".join(printed)[-LARGEST_NOTE:]
        self.reply(message, outcome)

    def reply(self, message: Message, outcome: Message) -> None:
        del self.running[message["id"]]
        if not self.running:
            self.state.leave()
        outcome["delayed"] = self.delay.delayed() - message["delayed"]
        # Sent together with other replies of the same loop iteration.
        if not self.unsent:
            self.loop.call_soon(self.send_all)
        self.unsent.append({"id": message["id"], **outcome})

    def send_all(self) -> None:
        self.channel.send(*self.unsent)
        self.unsent.clear()

    def begin(self, message: Message) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            if message["id"] in self.running:  # cancelled before its first step
                self.reply(message, {"failure": "CancelledError", "duration_ms": 0.0})

        task = self.running[message["id"]] = self.loop.create_task(self.answer(message))
        task.add_done_callback(ended)

    def handle(self, messages: list[Message]) -> None:
        for message in messages:
            if "id" in message:
                self.begin(message)
            elif message.get("cancel") in self.running:
                self.running[message["cancel"]].cancel()

    def listen(self) -> None:
        """Read messages, in a separate thread that works even when the loop is blocked."""
        while messages := self.channel.receive():
            if any("who" in message for message in messages):
                self.channel.send(self.who())
            for message in messages:
                message["delayed"] = self.delay.delayed()
            self.loop.call_soon_threadsafe(self.handle, messages)
        self.loop.call_soon_threadsafe(self.over.set)

    def who(self) -> Message:
        """The question that runs on the loop right now, and for how long."""
        task = asyncio.current_task(self.loop)
        numbers = [number for number, other in list(self.running.items()) if other is task]
        since = time.monotonic() - self.delay.last
        return {"running": numbers[0] if numbers else None, "since": since}
