"""A judge that is somebody's own function, plain or async."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from trialrun.errors import PluginError, crash
from trialrun.judge.reply_parser import JudgeError, read_arguments, read_score
from trialrun.model.judging import JudgeRequest
from trialrun.model.results import Vote


class FunctionJudge:
    """Takes a `JudgeRequest`; returns a score, or a dict with `score` and perhaps `rationale`.

    Its verdicts are not kept: nobody can tell whether the function is still the same.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        if isinstance(function, type) or not callable(function):
            raise PluginError(f"the judge `{name}` is {type(function).__name__}, not a function")
        self.function = function
        self.name = name

    def check(self) -> None:
        """It is there."""

    def address(self) -> None:
        """It is here."""

    def open(self) -> None:
        """It is ready."""

    async def close(self) -> None:
        """Nothing was opened."""

    def _called(self, request: JudgeRequest) -> Any:
        """What it says. A coroutine has a loop of its own, and so blocks nobody else."""
        said = self.function(request)
        return asyncio.run(_awaited(said)) if inspect.isawaitable(said) else said

    async def ask(self, request: JudgeRequest) -> Vote:
        """Call it in a thread, so that others are judged meanwhile, and it can be given up."""
        try:
            said = await _in_thread(self._called, request)
            if isinstance(said, dict):
                score, rationale = read_arguments(dict(said))
            else:
                score, rationale = read_score(said), ""
        except JudgeError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run is stopped, or its time is over
                raise
            raise JudgeError(f"the judge itself failed: {crash(error)}") from None
        except BaseException as error:
            raise JudgeError(f"the judge itself failed: {crash(error)}") from None
        return Vote(model=self.name, score=score, rationale=rationale, total_tokens=0, cost_usd=0.0)


async def _awaited(value: Any) -> Any:
    return await value


async def _in_thread(function: Callable[..., Any], request: JudgeRequest) -> Any:
    """Call it beside the loop. In a thread that nobody waits for: one that hangs must not hold up
    the end of the run, as those of `asyncio.to_thread` would.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def call() -> None:
        said, problem = None, None
        try:
            said = function(request)
        except BaseException as error:
            problem = error
        with suppress(RuntimeError):  # the loop is closed: it was given up long ago
            loop.call_soon_threadsafe(_settle, done, (said, problem))

    threading.Thread(target=copy_context().run, args=(call,), daemon=True).start()
    said, problem = await done
    if problem is not None:
        raise problem
    return said


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)
