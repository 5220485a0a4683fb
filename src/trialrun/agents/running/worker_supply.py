"""Gives each question a worker of its own: a free one, or a new one where it would wait for long.

A run asks as many questions at once as `-j` says, because agents wait for networks. A worker costs
far more than the answer of an agent that does not wait: as many workers as there are cores are kept
busy, and more are started only while those do not answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Awaitable, Callable

from trialrun.agents.running.worker_pool import Worker
from trialrun.errors import PluginError

_TICK = 0.01
"""Seconds between looks at what the workers do, while questions wait."""

_SLOW = 0.02
"""A worker that has had a question for longer waits for something: others can use its core."""

_AT_LEAST_EVERY = 0.1
"""While questions wait, one more worker is tried after so many seconds, whatever they do."""


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


class Supply:
    """The workers that answer one question at a time."""

    def __init__(self, start: Callable[[], Awaitable[Worker]]) -> None:
        """`start` makes a worker; it raises PluginError if there can be no more."""
        self._start = start
        self._cores = cores()
        self._idle: list[Worker] = []
        self._since: dict[Worker, float] = {}  # busy workers: since when
        self._waiting: deque[asyncio.Future[Worker]] = deque()
        self._starting: set[asyncio.Task[None]] = set()
        self._last_start = 0.0
        self._growing: asyncio.Task[None] | None = None

    async def take(self) -> Worker:
        """A worker for one question. PluginError if none can be started and there is none."""
        loop = asyncio.get_running_loop()
        if self._idle:
            worker = self._idle.pop()
            self._since[worker] = loop.time()
            return worker
        wanted: asyncio.Future[Worker] = loop.create_future()
        self._waiting.append(wanted)
        if self._growing is None or self._growing.done():
            self._growing = loop.create_task(self._grow())
        try:
            return await wanted
        except asyncio.CancelledError:
            if wanted.done() and not wanted.cancelled() and wanted.exception() is None:
                self.give(wanted.result())  # it came in the same moment
            raise

    def give(self, worker: Worker) -> None:
        """Take a worker back, or a new one in; the question that waited longest gets it."""
        self._since.pop(worker, None)
        wanted = self._next_waiting()
        if wanted is None:
            self._idle.append(worker)
        else:
            self._since[worker] = asyncio.get_running_loop().time()
            wanted.set_result(worker)

    def lose(self, worker: Worker) -> None:
        """The worker will not be given back."""
        self._since.pop(worker, None)

    def _next_waiting(self) -> asyncio.Future[Worker] | None:
        while self._waiting:
            wanted = self._waiting.popleft()
            if not wanted.done():  # else its question was cancelled
                return wanted
        return None

    async def _grow(self) -> None:
        """Start workers while questions wait for one."""
        while self._waiting:
            for _ in range(self._more(asyncio.get_running_loop().time())):
                self._last_start = asyncio.get_running_loop().time()
                task = asyncio.ensure_future(self._add())
                self._starting.add(task)
                task.add_done_callback(self._starting.discard)
            await asyncio.sleep(_TICK)

    def _more(self, now: float) -> int:
        """How many workers to start now, at most one a core at a time."""
        quick = sum(now - since < _SLOW for since in self._since.values())
        wanted = self._cores - quick
        if wanted <= 0 and now - self._last_start >= _AT_LEAST_EVERY:
            wanted = 1
        most = min(self._cores, len(self._waiting)) - len(self._starting)
        return max(0, min(wanted - len(self._starting), most))

    async def _add(self) -> None:
        try:
            worker = await self._start()
        except PluginError as error:
            # Where others work, the questions wait for them: no more can be started now.
            wanted = None if self._since or self._idle else self._next_waiting()
            if wanted is not None:
                wanted.set_exception(error)
        else:
            self.give(worker)

    async def close(self) -> None:
        """Stop starting workers; those that are about to start are ended."""
        tasks = [*self._starting, *([self._growing] if self._growing is not None else [])]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
