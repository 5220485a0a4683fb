"""An agent that is given as a Python object: a function, a method, a closure, a callable object.

It is called in this process, because a closure cannot be sent to another one. Plain functions run
in threads, so that several cases run at the same time and one that hangs does not stop the others.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from trialrun.agents.base import NOT_ISOLATED, Failure, Question, Reply, timed_out
from trialrun.agents.running import answers
from trialrun.agents.running.in_process import within
from trialrun.agents.running.python import require_parameters
from trialrun.agents.running.worker_calls import Function, shown_traceback

IN_THIS_PROCESS = (
    f"{NOT_ISOLATED}the agent was called in this process, so cases may see what another left "
    "behind; one that is named, module:function, runs in processes of its own"
)

_GRACE_SECONDS = 1.0
"""How long a cancelled coroutine may take to end."""

Outcome = tuple[Any, BaseException | None]


class CallableAgent:
    """Any callable that takes the question and, if it takes two arguments, the history."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.name = name
        self.note = IN_THIS_PROCESS
        self._function = Function.of(function, name)

    async def start(self, takes_turns: bool) -> None:
        """Require parameters that fit the cases."""
        function = self._function
        require_parameters(self.name, function.required, function.parameters, takes_turns)

    async def ask(self, question: Question, limit: float) -> Reply:
        """The reply within the limit. A plain function that exceeds it goes on in its thread."""
        began = time.perf_counter()
        reply = Reply()
        with within(question.folder):
            found = await self._answer(question, limit)
        if isinstance(found, BaseException):
            reply.failure = answers.from_exception(found)
            reply.printed = shown_traceback(found)
        elif isinstance(found, Failure):
            reply.failure = found
        else:
            reply.answer = found
        reply.duration_ms = (time.perf_counter() - began) * 1000
        return reply

    async def _answer(
        self, question: Question, limit: float
    ) -> dict[str, Any] | Failure | BaseException:
        given = (question.input, list(question.history))
        deadline = time.monotonic() + limit
        if self._function.is_async:
            value, error = self._function(*given), None
        else:
            calling = self._in_thread(given)
            if not await _is_done(calling, limit):
                return timed_out(limit, ": the call goes on in its thread, which cannot be stopped")
            value, error = calling.result()
        if error is None and inspect.isawaitable(value):
            awaiting = asyncio.ensure_future(_awaited(value))
            try:
                if not await _is_done(awaiting, deadline - time.monotonic()):
                    return await _cancelled(awaiting, limit)
            except asyncio.CancelledError:  # the run is stopped
                awaiting.cancel()
                raise
            value, error = awaiting.result()
        return answers.from_returned(value, question.input) if error is None else error

    def _in_thread(self, given: tuple[Any, ...]) -> asyncio.Future[Outcome]:
        """The outcome of the call, in a thread of its own.

        A daemon, unlike the threads of a pool: a call that hangs must not keep Python from exiting.
        """
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Outcome] = loop.create_future()
        context = copy_context()

        def settle(found: Outcome) -> None:
            if not outcome.done():
                outcome.set_result(found)

        def work() -> None:
            found: Outcome
            try:
                found = context.run(self._function, *given), None
            except BaseException as error:
                found = None, error
            with suppress(RuntimeError):  # the loop is closed: the run did not wait for this call
                loop.call_soon_threadsafe(settle, found)

        threading.Thread(target=work, name="trialrun-agent", daemon=True).start()
        return outcome

    async def close(self) -> None:
        """Nothing was started."""


async def _awaited(value: Any) -> Outcome:
    """The outcome of an awaitable. Nothing is raised: a SystemExit in a task ends the loop."""
    try:
        return await value, None
    except BaseException as error:
        return None, error


async def _is_done(outcome: asyncio.Future[Outcome], limit: float) -> bool:
    done, _ = await asyncio.wait({outcome}, timeout=max(limit, 0))
    return bool(done)


async def _cancelled(awaiting: asyncio.Future[Outcome], limit: float) -> Failure:
    """The failure of a coroutine that exceeded its limit; it is cancelled, and may refuse that."""
    awaiting.cancel()
    ended = await _is_done(awaiting, _GRACE_SECONDS)
    return timed_out(limit, "" if ended else ", and it could not be cancelled")
