"""Python functions as agents, in worker processes: what one of them does harms only its own case.

A plain function has a worker to itself while it runs. Coroutine functions share one; where a shared
worker dies or its loop is blocked, and it is not plain by whom, every question that was in it is
asked again, each in a worker of its own: alone, it shows whose fault it was.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from trialrun.agents.base import Failure, Question, Reply, timed_out
from trialrun.agents.running.processes import Keeper
from trialrun.agents.running.worker_pool import Worker
from trialrun.agents.running.worker_protocol import Said
from trialrun.errors import PluginError

_SHARED_BY = 64
"""Questions at once that one event loop answers; more get a further worker."""


_HELD_UP = 0.1
"""Seconds that others may hold a question up before its running out of time says nothing."""

_MOST_OF_IT = 0.8
"""Share of the limit that a question must have blocked the loop for to be blamed at once."""


class PythonAgent:
    """`module:function`, asked in worker processes."""

    def __init__(self, reference: str, folder: str, keeper: Keeper) -> None:
        self.reference = reference
        self.folder = folder
        self.keeper = keeper
        self.is_async = False
        self._idle: list[Worker] = []
        self._shared: list[Worker] = []
        self._all: set[Worker] = set()
        self._opening = asyncio.Lock()

    async def start(self, takes_turns: bool) -> None:
        """Import it once: what cannot be imported is said before any case runs."""
        worker = await self._new_worker()
        self.is_async = worker.is_async
        require_parameters(self.reference, worker.required, worker.parameters, takes_turns)
        (self._shared if self.is_async else self._idle).append(worker)

    async def _new_worker(self) -> Worker:
        worker = await Worker.start(self.reference, self.folder, self.keeper)
        self._all.add(worker)
        return worker

    async def ask(self, question: Question, limit: float) -> Reply:
        """The reply, from whichever worker has room."""
        began = time.perf_counter()
        reply = None
        if self.is_async and question.folder is None:
            reply = await self._ask_shared(question, limit)
        reply = reply or await self._ask_alone(question, limit)
        reply.duration_ms = reply.duration_ms or (time.perf_counter() - began) * 1000
        return reply

    # A worker of its own

    async def _ask_alone(self, question: Question, limit: float) -> Reply:
        try:
            worker = self._idle.pop() if self._idle else await self._new_worker()
        except PluginError as error:  # it could be imported before
            return Reply(failure=Failure(message=str(error)))
        message, _ = await worker.ask(_message(question), limit)
        if message is not None:
            spent = worker.leftovers or message.get("failure", "").startswith("MemoryError")
            if worker.is_gone or spent:
                await self._drop(worker)  # what goes on in it must not meet the next case
            else:
                self._idle.append(worker)
            return _reply(message)
        if not worker.is_gone:
            await self._drop(worker)
            return Reply(failure=timed_out(limit), printed=worker.printed())
        printed = worker.printed()
        await self._drop(worker)
        return Reply(failure=Failure(message=_death(worker)), printed=printed)

    # A worker with others

    async def _ask_shared(self, question: Question, limit: float) -> Reply | None:
        """None where it is not plain whose fault it was that no reply came."""
        try:
            worker = await self._roomy_worker()
        except PluginError as error:
            return Reply(failure=Failure(message=str(error)))
        message, number = await worker.ask(_message(question), limit)
        if message is not None:
            return _reply(message)
        if worker.is_gone:
            await self._drop(worker)
            if len(worker.waiting) > 1:
                return None
            return Reply(failure=Failure(message=_death(worker)), printed=worker.printed())
        said = await worker.cancel(number)
        if said is not None:
            # Held up by a neighbour, it did not have its time: alone it will.
            return None if said.get("held_up", 0.0) > _HELD_UP else Reply(failure=timed_out(limit))
        who = await worker.who_runs()
        await self._drop(worker)
        if who is not None and who[0] is None:
            return Reply(failure=timed_out(limit, " and it would not be cancelled"))
        if who is not None and who[0] == number and who[1] > _MOST_OF_IT * limit:
            return Reply(failure=timed_out(limit, ": it blocked the event loop"))
        return None

    async def _roomy_worker(self) -> Worker:
        async with self._opening:
            self._shared = [worker for worker in self._shared if not worker.is_gone]
            for worker in self._shared:
                if len(worker.waiting) < _SHARED_BY:
                    return worker
            worker = await self._new_worker()
            self._shared.append(worker)
            return worker

    async def _drop(self, worker: Worker) -> None:
        if worker in self._all:
            self._all.discard(worker)
            await worker.end()

    async def close(self) -> None:
        """End every worker, whatever it is doing."""
        await asyncio.gather(*(worker.end() for worker in self._all))
        self._all.clear()


def require_parameters(reference: str, required: int, parameters: int, takes_turns: bool) -> None:
    """Refuse a function that cannot be asked in the way that the cases need."""
    if required > 2:
        raise PluginError(
            f"`{reference}` needs {required} arguments; an agent takes the input, or input and "
            "history"
        )
    if parameters == 0:
        raise PluginError(
            f"`{reference}` takes no argument; an agent takes the input, or input and history"
        )
    if takes_turns and parameters < 2:
        raise PluginError(
            f"`{reference}` takes only the input, but there are conversations among the cases: "
            "it must take (input, history)"
        )


def _message(question: Question) -> dict[str, Any]:
    return {
        "input": question.input,
        "history": list(question.history),
        "folder": question.folder,
    }


def _reply(message: Said) -> Reply:
    reply = Reply(printed=message.get("printed", ""), duration_ms=message["duration_ms"])
    if "answer" in message:
        reply.answer = message["answer"]
        return reply
    reply.failure = Failure(
        message=message["failure"],
        transient=message.get("transient", False),
        retry_after=message.get("retry_after"),
    )
    if message.get("traceback"):
        reply.printed += message["traceback"]
    return reply


def _death(worker: Worker) -> str:
    how = worker.how_it_ended()
    was_killed = how.startswith("killed")
    return f"the agent's process {'was' if was_killed else 'ended with'} {how}"
