"""Python functions as agents in worker processes, so that a fault harms only its own case.

A plain function runs in a forked copy of a worker, one per question, where the worker has only one
thread; coroutine functions share a worker. With `isolate: true` each question that cannot have a
copy has a new worker. If a shared worker dies or its loop is blocked, and the culprit is not known,
every question in it is asked again in a separate worker, which shows which one is at fault.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from trialrun.agents.base import NOT_ISOLATED, Failure, Question, Reply, timed_out
from trialrun.agents.running.processes import Reaper
from trialrun.agents.running.worker_pool import COPIES, SHARED, Worker
from trialrun.agents.running.worker_protocol import WorkerMessage
from trialrun.agents.running.worker_supply import Supply
from trialrun.errors import PluginError

_QUESTIONS_PER_WORKER = 64
"""Most questions that one shared worker answers at the same time."""


_TOLERATED_DELAY = 0.1
"""Seconds for which other questions may block the loop before a timeout is inconclusive."""

_BLAMED_SHARE = 0.8
"""Share of its limit for which a question must have blocked the loop to be blamed at once."""


class PythonAgent:
    """`module:function`, called in worker processes."""

    def __init__(
        self, reference: str, folder: str, reaper: Reaper, isolate: bool | None = None
    ) -> None:
        self.reference = reference
        self.isolate = isolate
        self.note: str | None = None  # for the report: cases were not isolated, and why
        self.folder = folder
        self.reaper = reaper
        self.is_async = False
        self._supply = Supply(self._new_worker)
        self._shared: list[Worker] = []
        self._all: set[Worker] = set()
        self._opening = asyncio.Lock()

    async def start(self, takes_turns: bool) -> None:
        """Import the function once, so that an import error is reported before any case runs."""
        worker = await self._new_worker()
        self.is_async = worker.is_async
        require_parameters(self.reference, worker.required, worker.parameters, takes_turns)
        if self.is_async and not self.isolate:
            self._shared.append(worker)
        else:
            self._supply.give(worker)

    async def _new_worker(self) -> Worker:
        mode = SHARED if self.isolate is False else COPIES
        worker = await Worker.start(self.reference, self.folder, self.reaper, mode)
        self._all.add(worker)
        if worker.why_shared is not None and self.isolate is None:
            self.note = (
                f"{NOT_ISOLATED}cases of `{self.reference}` share a worker process "
                f"({worker.why_shared}), so a "
                "case may see what another left behind; `isolate: true` gives each its own"
            )
        return worker

    def _is_for_one(self, worker: Worker) -> bool:
        """Whether the worker answers one question only: it cannot make copies of itself."""
        return self.isolate is True and worker.why_shared is not None

    async def ask(self, question: Question, limit: float) -> Reply:
        """The reply, from a free worker."""
        began = time.perf_counter()
        reply = None
        if self.is_async and question.folder is None and not self.isolate:
            reply = await self._ask_shared(question, limit)
        reply = reply or await self._ask_alone(question, limit)
        reply.duration_ms = reply.duration_ms or (time.perf_counter() - began) * 1000
        return reply

    # Separate workers

    async def _ask_alone(self, question: Question, limit: float) -> Reply:
        try:
            worker = await self._supply.take()
        except PluginError as error:  # though the first import worked
            return Reply(failure=Failure(message=str(error)))
        message, _ = await worker.ask(_message(question), limit)
        if message is not None:
            spent = worker.leftovers or message.get("failure", "").startswith("MemoryError")
            if worker.is_gone or spent or "died" in message or self._is_for_one(worker):
                await self._drop(worker)  # leftover threads must not disturb the next case
            else:
                self._supply.give(worker)
            return _reply(message, worker)
        if not worker.is_gone:
            await self._drop(worker)
            return Reply(failure=timed_out(limit), printed=worker.printed())
        printed = worker.printed()
        await self._drop(worker)
        return Reply(failure=_death(worker), printed=printed)

    # Shared workers

    async def _ask_shared(self, question: Question, limit: float) -> Reply | None:
        """The reply; None if there is none and the culprit is not known."""
        try:
            worker = await self._free_shared_worker()
        except PluginError as error:
            return Reply(failure=Failure(message=str(error)))
        message, number = await worker.ask(_message(question), limit)
        if message is not None:
            return _reply(message, worker)
        if worker.is_gone:
            await self._drop(worker)
            if len(worker.waiting) > 1:
                return None
            return Reply(failure=_death(worker), printed=worker.printed())
        said = await worker.cancel(number)
        if said is not None:
            # Another question blocked the loop: this one did not get its full time and is repeated.
            return (
                None
                if said.get("delayed", 0.0) > _TOLERATED_DELAY
                else Reply(failure=timed_out(limit))
            )
        who = await worker.who_runs()
        await self._drop(worker)
        if who is not None and who[0] is None:
            return Reply(failure=timed_out(limit, " and it could not be cancelled"))
        if who is not None and who[0] == number and who[1] > _BLAMED_SHARE * limit:
            return Reply(failure=timed_out(limit, ": it blocked the event loop"))
        return None

    async def _free_shared_worker(self) -> Worker:
        async with self._opening:
            self._shared = [worker for worker in self._shared if not worker.is_gone]
            for worker in self._shared:
                if len(worker.waiting) < _QUESTIONS_PER_WORKER:
                    return worker
            worker = await self._new_worker()
            self._shared.append(worker)
            return worker

    async def _drop(self, worker: Worker) -> None:
        self._supply.lose(worker)
        if worker in self._all:
            self._all.discard(worker)
            await worker.end()

    async def close(self) -> None:
        """End every worker, even when it is busy."""
        await self._supply.close()
        await asyncio.gather(*(worker.end() for worker in self._all))
        self._all.clear()


def require_parameters(reference: str, required: int, parameters: int, takes_turns: bool) -> None:
    """Reject a function whose parameters do not fit the cases."""
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


def _reply(message: WorkerMessage, worker: Worker) -> Reply:
    reply = Reply(printed=message.get("printed", ""), duration_ms=message["duration_ms"])
    if "answer" in message:
        reply.answer = message["answer"]
        return reply
    if "died" in message:
        reply.failure = _death(worker, message["died"])
        return reply
    reply.failure = Failure(
        message=message["failure"],
        crashed=message.get("crashed", False),
        transient=message.get("transient", False),
        retry_after=message.get("retry_after"),
    )
    if message.get("traceback"):
        reply.printed += message["traceback"]
    return reply


def _death(worker: Worker, code: int | None = None) -> Failure:
    return Failure(message=worker.why_no_reply(code), crashed=worker.fault is None)
