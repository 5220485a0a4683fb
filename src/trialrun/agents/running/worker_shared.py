"""Answer several questions at the same time on one event loop, in a worker.

A separate thread reads the messages of the run, so that a case can be cancelled, and a blocked loop
can still be reported.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from contextvars import ContextVar
from typing import Any

from trialrun.agents.base import LARGEST_NOTE
from trialrun.agents.running.worker_calls import Function, failed, outcome_of
from trialrun.agents.running.worker_channel import Channel, Message
from trialrun.agents.running.worker_state import ProcessState

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


async def serve_together(channel: Channel, agent: Function) -> None:
    """Answer the questions of the run until it closes the channel."""
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
            value = await self.agent(message["input"], message["history"])
            outcome = outcome_of(value, message["input"])
        except BaseException as error:
            outcome = failed(error)
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
        self.unsent.append({"id": message["id"], "key": message["key"], **outcome})

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
