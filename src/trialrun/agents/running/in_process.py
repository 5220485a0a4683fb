"""A Python agent in trialrun's own process, for a debugger: one at a time and unprotected.

A plain function that hangs blocks the run: no time limit can end it here.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trialrun.agents.base import Failure, Question, Reply, timed_out
from trialrun.agents.running import answers
from trialrun.agents.running.python import require_parameters
from trialrun.agents.running.worker_main import Function, shown_traceback


class InProcessAgent:
    """`module:function`, called in this process."""

    def __init__(self, reference: str, folder: str) -> None:
        self.reference = reference
        self.folder = folder
        self._function: Function | None = None

    async def start(self, takes_turns: bool) -> None:
        """Import the function."""
        self._function = Function(self.reference, self.folder)
        function = self._function
        require_parameters(self.reference, function.required, function.parameters, takes_turns)

    async def ask(self, question: Question, limit: float) -> Reply:
        """Call the function; an awaitable is cancelled at its limit, a plain function is not."""
        assert self._function is not None
        began = time.perf_counter()
        reply = Reply()
        try:
            with _within(question.folder):
                value = self._function(question.input, list(question.history))
                if inspect.isawaitable(value):
                    async with asyncio.timeout(limit):
                        value = await value
            found = answers.from_returned(value)
        except KeyboardInterrupt:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run was stopped, not the agent
                raise
            found = answers.from_exception(error)
        except TimeoutError as error:
            elapsed = time.perf_counter() - began
            found = timed_out(limit) if elapsed >= limit else answers.from_exception(error)
        except BaseException as error:
            found = answers.from_exception(error)
            reply.printed = shown_traceback(error)
        if isinstance(found, Failure):
            reply.failure = found
        else:
            reply.answer = found
        reply.duration_ms = (time.perf_counter() - began) * 1000
        return reply

    async def close(self) -> None:
        """Nothing was started."""


@contextmanager
def _within(folder: str | None) -> Iterator[None]:
    if folder is None:
        yield
        return
    before = Path.cwd()
    os.chdir(folder)
    os.environ["TRIALRUN_WORKDIR"] = folder
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.pop("TRIALRUN_WORKDIR", None)
