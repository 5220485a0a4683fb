"""The inside of a worker process: it imports an agent, then answers one question after another.

An agent that is a plain function has the worker to itself while it runs. Coroutine functions share
the worker's event loop; a thread beside the loop hears what the run says, so that a case can be
cancelled, and a loop that is blocked can still say by whom.

The run talks to it over a socket of its own: stdout and stderr belong to the agent.
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
from trialrun.agents.running.worker_protocol import LENGTH, packed, unpacked

Message = dict[str, Any]

_TOO_LONG = {
    "failure": "the agent's answer cannot be written: it has a number of more than 64 bits"
}


def main(arguments: list[str]) -> None:
    """Serve the run at the other end of the socket; end when it does.

    Without the interpreter's own ending: threads that an agent left behind would hold it up.
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
    except Exception as error:  # PluginError says all; anything else is a bug of ours
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
        _serve_in_turn(channel, call, folder)


class Channel:
    """The socket to the run. It is closed on the other side when the run is over."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.set_inheritable(False)  # programs that an agent starts have no part in it
        self.owner = os.getpid()
        self._sending = threading.Lock()
        self._received = bytearray()

    def send(self, *messages: Message) -> None:
        """Say something. A forked child has nothing to say: it would be taken for its parent."""
        if os.getpid() != self.owner:
            os._exit(0)
        data = b"".join(map(_packed, messages))
        with self._sending:
            self.connection.sendall(data)

    def receive(self) -> list[Message]:
        """What is said next, as much as is there; nothing when the run is over."""
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
            while (size := _size_at(self._received, done)) is not None:
                start = done + LENGTH.size
                done = start + size
                messages.append(unpacked(bytes(self._received[start:done])))
            del self._received[:done]
        return messages


def _size_at(received: bytearray, start: int) -> int | None:
    """The size of the message that begins there; None if it is not all there yet."""
    if len(received) < start + LENGTH.size:
        return None
    size: int = LENGTH.unpack_from(received, start)[0]
    return size if len(received) >= start + LENGTH.size + size else None


def _packed(message: Message) -> bytes:
    try:
        return packed(message)
    except OverflowError:  # the frames hold 64 bits; Python's own numbers have no end
        return packed({key: value for key, value in message.items() if key != "answer"} | _TOO_LONG)


class Function:
    """A function that a spec names, and how it wants to be called."""

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
    """How many values it needs, and takes, by position; a builtin that does not say takes one."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1, 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    placed = [parameter for parameter in parameters if parameter.kind in kinds]
    needed = sum(parameter.default is parameter.empty for parameter in placed)
    open_ended = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return needed, 9 if open_ended else len(placed)


# One question after another


def _serve_in_turn(channel: Channel, agent: Function | None, folder: str) -> None:
    surroundings = Surroundings()
    functions: dict[str, Function] = {}
    while messages := channel.receive():
        for message in messages:
            began = time.perf_counter()
            try:
                surroundings.enter(message.get("folder"))
                if agent is not None:
                    outcome = _asked(agent, message)
                else:
                    outcome = _done(functions, message, folder)
            except BaseException as error:
                outcome = _failed(error)
            _flush()
            outcome["duration_ms"] = (time.perf_counter() - began) * 1000
            outcome["leftovers"] = surroundings.leave()
            channel.send({"id": message["id"], **outcome})


def _asked(agent: Function, message: Message) -> Message:
    value = agent(message["input"], message["history"])
    if inspect.isawaitable(value):  # an ordinary function that hands out a coroutine
        value = asyncio.run(_awaited(value))
    return _outcome(value)


async def _awaited(value: Any) -> Any:
    return await value


def _done(functions: dict[str, Function], message: Message, folder: str) -> Message:
    """Call a function of `setup`, `teardown` or `state`: with the folder, then the answer."""
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
    """An exception of an agent, `sys.exit` and Ctrl-C included, is how its case ended."""
    if os.getpid() != _OWNER:  # a child that the agent forked, which must not speak for it
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


class Surroundings:
    """What an agent may change around itself, put back after it: the next case starts clean."""

    def __init__(self) -> None:
        self.folder = str(Path.cwd())
        self.environment = dict(os.environ)
        self.path = list(sys.path)
        self.locale = locale.setlocale(locale.LC_ALL)
        self.streams = (sys.stdin, sys.stdout, sys.stderr)
        self.threads = _busy_threads()

    def enter(self, folder: str | None) -> None:
        """Go to the case's own folder, where it has one."""
        if folder is not None:
            os.chdir(folder)
            os.environ["TRIALRUN_WORKDIR"] = folder

    def leave(self) -> bool:
        """Put everything back; whether something of the case goes on running."""
        if _working_folder() != self.folder:
            os.chdir(self.folder)
        if os.environ != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        if locale.setlocale(locale.LC_ALL) != self.locale:
            locale.setlocale(locale.LC_ALL, self.locale)
        sys.path[:] = self.path
        sys.stdin, sys.stdout, sys.stderr = self.streams
        signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm would go off in the next case
        return _busy_threads() > self.threads or _has_children()


def _working_folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return None


def _busy_threads() -> int:
    """Threads that may still do something. Those of a pool that wait for work do not.

    Many libraries keep such pools: a new worker after each case would cost all their imports.
    """
    return sum(
        not (
            frame.f_code.co_name == "_worker"
            and frame.f_code.co_filename.endswith(_POOL_OF_THREADS)
        )
        for frame in sys._current_frames().values()
    )


_POOL_OF_THREADS = os.path.join("concurrent", "futures", "thread.py")  # noqa: PTH118


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


# Several at once, on one event loop

_PRINTED: ContextVar[list[str] | None] = ContextVar("printed", default=None)


class _Routed:
    """stdout or stderr of a shared worker: what a case prints is kept with that case."""

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


class _Pulse:
    """How long the loop was held up, told by a task that should wake every few milliseconds."""

    def __init__(self) -> None:
        self.lost = 0.0
        self.last = time.monotonic()

    async def beat(self) -> None:
        """For ever: see how late it is each time."""
        while True:
            await asyncio.sleep(_BEAT)
            now = time.monotonic()
            self.lost += max(0.0, now - self.last - _BEAT - _LATENESS)
            self.last = now

    def held_up(self) -> float:
        """Seconds lost so far, those of a task that holds the loop at this moment included."""
        return self.lost + max(0.0, time.monotonic() - self.last - _BEAT - _LATENESS)


_BEAT = 0.05
_LATENESS = 0.05  # on a busy machine that is nobody's fault


async def _serve_together(channel: Channel, agent: Function) -> None:
    await _SharedWorker(channel, agent).serve()


class _SharedWorker:
    """Answers several questions at once on one event loop."""

    def __init__(self, channel: Channel, agent: Function) -> None:
        self.channel = channel
        self.agent = agent
        self.loop = asyncio.get_running_loop()
        self.surroundings = Surroundings()
        sys.stdout, sys.stderr = _Routed(sys.stdout), _Routed(sys.stderr)
        self.surroundings.streams = (sys.stdin, sys.stdout, sys.stderr)
        self.running: dict[int, asyncio.Task[None]] = {}
        self.unsent: list[Message] = []
        self.pulse = _Pulse()
        self.over = asyncio.Event()

    async def serve(self) -> None:
        """Until the other side closes the channel."""
        beating = self.loop.create_task(self.pulse.beat())
        threading.Thread(target=self.listen, daemon=True).start()
        await self.over.wait()
        beating.cancel()
        os._exit(0)  # tasks that ignore being cancelled hold nobody up

    async def answer(self, message: Message) -> None:
        began = time.perf_counter()
        printed: list[str] = []
        _PRINTED.set(printed)
        try:
            self.surroundings.enter(message.get("folder"))
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
            self.surroundings.leave()
        outcome["held_up"] = self.pulse.held_up() - message["held_up"]
        # Together with those that end in the same round of the loop.
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

    def hear(self, messages: list[Message]) -> None:
        for message in messages:
            if "id" in message:
                self.begin(message)
            elif message.get("cancel") in self.running:
                self.running[message["cancel"]].cancel()

    def listen(self) -> None:
        """In a thread beside the loop: it hears also when the loop is blocked."""
        while messages := self.channel.receive():
            if any("who" in message for message in messages):
                self.channel.send(self.who())
            for message in messages:
                message["held_up"] = self.pulse.held_up()
            self.loop.call_soon_threadsafe(self.hear, messages)
        self.loop.call_soon_threadsafe(self.over.set)

    def who(self) -> Message:
        """Whose question holds the loop at this moment, and for how long."""
        task = asyncio.current_task(self.loop)
        numbers = [number for number, other in list(self.running.items()) if other is task]
        since = time.monotonic() - self.pulse.last
        return {"running": numbers[0] if numbers else None, "since": since}
