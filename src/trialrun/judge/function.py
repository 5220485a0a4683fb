"""A judge that is a custom function, plain or async."""

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
    """Takes a `JudgeRequest`; returns a score, or a dict with `score` and optionally `rationale`.

    Its verdicts are not cached: trialrun cannot know whether the function has changed.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        if isinstance(function, type) or not callable(function):
            raise PluginError(f"the judge `{name}` is {type(function).__name__}, not a function")
        self.function = function
        self.name = name

    def check(self) -> None:
        """Nothing to check: the function is already imported."""

    def address(self) -> None:
        """No address: it runs in this process."""

    def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    def _call(self, request: JudgeRequest) -> Any:
        """Call the function. A coroutine gets its own loop, so that it cannot block others."""
        said = self.function(request)
        return asyncio.run(_awaited(said)) if inspect.isawaitable(said) else said

    async def ask(self, request: JudgeRequest) -> Vote:
        """Call it in a thread, so that other calls continue and this one can be cancelled."""
        try:
            said = await _in_thread(self._call, request)
            if isinstance(said, dict):
                score, rationale = read_arguments(dict(said))
            else:
                score, rationale = read_score(said), ""
        except JudgeError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run is stopped, or the call timed out
                raise
            raise JudgeError(f"the judge itself failed: {crash(error)}") from None
        except BaseException as error:
            raise JudgeError(f"the judge itself failed: {crash(error)}") from None
        return Vote(model=self.name, score=score, rationale=rationale, total_tokens=0, cost_usd=0.0)


async def _awaited(value: Any) -> Any:
    return await value


async def _in_thread(function: Callable[..., Any], request: JudgeRequest) -> Any:
    """Call it in a daemon thread: a function that hangs must not delay the end of the run, as a
    thread of `asyncio.to_thread` would.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def call() -> None:
        said, problem = None, None
        try:
            said = function(request)
        except BaseException as error:
            problem = error
        with suppress(RuntimeError):  # the loop is closed: the call was cancelled earlier
            loop.call_soon_threadsafe(_settle, done, (said, problem))

    threading.Thread(target=copy_context().run, args=(call,), daemon=True).start()
    said, problem = await done
    if problem is not None:
        raise problem
    return said


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)
