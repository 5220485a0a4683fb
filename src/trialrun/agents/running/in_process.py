"""A Python agent in trialrun's own process, for a debugger: one at a time and unprotected.

A plain function that hangs blocks the run: no time limit can end it here.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from trialrun.agents.base import NOT_ISOLATED, Failure, Question, Reply, timed_out
from trialrun.agents.running import answers
from trialrun.agents.running.python import require_parameters
from trialrun.agents.running.worker_calls import Function, shown_traceback


class InProcessAgent:
    """`module:function`, called in this process.

    `is_busy`: a function runs now, so the event loop does not: Ctrl-C has to end the function.
    """

    is_busy: ClassVar[bool] = False

    def __init__(self, reference: str, folder: str) -> None:
        self.reference = reference
        self.folder = folder
        self.note = f"{NOT_ISOLATED}with --in-process, cases may see what another left behind"
        self._function: Function | None = None
        self._exits: AbstractContextManager[None] | None = None

    async def start(self, takes_turns: bool) -> None:
        """Import the function; from now on it cannot end this process by `os._exit`."""
        self._exits = _without_exits()
        self._exits.__enter__()
        self._function = Function(self.reference, self.folder)
        function = self._function
        require_parameters(self.reference, function.required, function.parameters, takes_turns)

    async def ask(self, question: Question, limit: float) -> Reply:
        """Call the function; an awaitable is cancelled at its limit, a plain function is not."""
        assert self._function is not None
        began = time.perf_counter()
        reply = Reply()
        try:
            with within(question.folder):
                InProcessAgent.is_busy = True
                try:
                    value = self._function(question.input, list(question.history))
                finally:
                    InProcessAgent.is_busy = False
                if inspect.isawaitable(value):
                    async with asyncio.timeout(limit):
                        value = await value
            found = answers.from_returned(value, question.input)
        except KeyboardInterrupt:
            # By Ctrl-C: the run is stopping, and cancels this task as soon as the loop turns.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
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
        """Make `os._exit` what it was."""
        if self._exits is not None:
            self._exits.__exit__(None, None, None)


class ProcessExit(BaseException):
    """Raised in the place of `os._exit`, which would end the run without a report and a status."""


@contextmanager
def _without_exits() -> Iterator[None]:
    """Make `os._exit` an exception, except in processes that the agent forks."""
    owner, end = os.getpid(), os._exit

    def refuse(code: int = 0) -> NoReturn:
        if os.getpid() != owner:
            end(code)
        raise ProcessExit(f"the agent called os._exit({code!r})")

    names = ("os", "posix", "nt")
    modules: list[Any] = [sys.modules[name] for name in names if name in sys.modules]
    for module in modules:
        module._exit = refuse
    try:
        yield
    finally:
        for module in modules:
            module._exit = end


@contextmanager
def within(folder: str | None) -> Iterator[None]:
    """Change to the case's working folder, if it has one: for the whole process."""
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
