"""Write attempts to the store in grouped transactions; each counts once it is durable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from trialrun.errors import CannotMask, StoreWriteError
from trialrun.store.records import Attempt

if TYPE_CHECKING:
    from trialrun.store.store import Store

_LARGEST_GROUP = 200


class Recorder:
    """Writes in its own thread; attempts that finish meanwhile go into the next transaction."""

    def __init__(self, store: Store, run_id: str, redactor: Callable[[Any], Any]) -> None:
        self._store = store
        self._run_id = run_id
        self._redactor = redactor
        self._group_size = _LARGEST_GROUP
        self._waiting: list[tuple[Attempt, asyncio.Future[None]]] = []
        self._writing: asyncio.Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, "trialrun-recorder")

    async def add(self, attempt: Attempt) -> None:
        """Record the attempt. It is durable when this returns; raises StoreError if it is not.

        Cancelling the wait does not cancel the write: finished attempts are always recorded.
        """
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((attempt, durable))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write())
        await durable

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            group = self._waiting[: self._group_size]
            del self._waiting[: self._group_size]
            attempts = [attempt for attempt, _ in group]
            problem: BaseException | None = None
            try:
                await loop.run_in_executor(
                    self._thread, self._store.add, self._run_id, attempts, self._redactor
                )
            except (StoreWriteError, CannotMask) as error:
                if len(group) > 1:  # one bad attempt must not lose the others
                    self._waiting[:0] = group
                    self._group_size = 1
                    continue
                problem = error
            except BaseException as error:
                problem = error
            for _, durable in group:
                if durable.done():
                    continue
                if problem is None:
                    durable.set_result(None)
                else:
                    durable.set_exception(problem)

    async def close(self) -> None:
        """Wait until every added attempt is written."""
        if self._writing is not None:
            await self._writing
        self._thread.shutdown()
