"""Call the functions that a spec names, in a worker, and describe what came of it."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trialrun.agents.base import LARGEST_NOTE, Failure
from trialrun.agents.running import answers

Message = dict[str, Any]


class Function:
    """A function that a spec names, and how many arguments it takes."""

    def __init__(self, reference: str, folder: str) -> None:
        from trialrun.registry import import_object

        self._take(import_object(reference, folder, is_agent=True), reference)

    @classmethod
    def of(cls, found: Any, name: str) -> Function:
        """A function that is given as an object."""
        made = cls.__new__(cls)
        made._take(found, name)
        return made

    def _take(self, found: Any, name: str) -> None:
        from trialrun.errors import PluginError

        if isinstance(found, type) or not callable(found):
            raise PluginError(f"`{name}` is {type(found).__name__}, not a function")
        self.function: Callable[..., Any] = found
        called = found if inspect.isroutine(found) else found.__call__
        self.is_async = inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(called)
        self.required, self.parameters = _positional(found)

    def __call__(self, *given: Any) -> Any:
        """Call it with as many of the given values as it takes."""
        return self.function(*given[: self.parameters])


def _positional(function: Callable[..., Any]) -> tuple[int, int]:
    """How many positional arguments it needs and takes; 1 for builtins without a signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1, 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    placed = [parameter for parameter in parameters if parameter.kind in kinds]
    needed = sum(parameter.default is parameter.empty for parameter in placed)
    open_ended = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return needed, 9 if open_ended else len(placed)


def answer_of(agent: Function, message: Message) -> Message:
    """The outcome of one question to the agent."""
    value = agent(message["input"], message["history"])
    if inspect.isawaitable(value):  # a plain function that returns a coroutine
        value = _result_of(value)
    return outcome_of(value, message["input"])


def _result_of(awaitable: Any) -> Any:
    import asyncio  # takes longer than the rest of a worker's start

    async def awaited() -> Any:
        return await awaitable

    return asyncio.run(awaited())


def call_action(functions: dict[str, Function], message: Message, folder: str) -> Message:
    """Call a function of `setup`, `teardown` or `state` with the folder and the answer."""
    reference = message["function"]
    if reference not in functions:
        functions[reference] = Function(reference, folder)
    if message.get("only_import"):
        return {"returned": True}
    value = functions[reference](Path(message["folder"]), message.get("answer"))
    if inspect.isawaitable(value):
        value = _result_of(value)
    return {"returned": value if value is None or isinstance(value, (bool, str)) else repr(value)}


def outcome_of(value: Any, question: str) -> Message:
    """The outcome of a call that returned."""
    found = answers.from_returned(value, question)
    if isinstance(found, Failure):
        return {"failure": found.message}
    return {"answer": found}


def failed(error: BaseException) -> Message:
    """The outcome of an exception of an agent, `sys.exit` and Ctrl-C included."""
    end_if_forked()
    failure = answers.from_exception(error)
    return {
        "failure": failure.message,
        "crashed": True,
        "assertion": isinstance(error, AssertionError),
        "transient": failure.transient,
        "retry_after": failure.retry_after,
        "traceback": shown_traceback(error),
    }


_owner = os.getpid()


def own_process() -> None:
    """From now on this process answers, not the one that it was copied from."""
    global _owner
    _owner = os.getpid()


def end_if_forked() -> None:
    """End a child that the agent forked: it must not answer in the place of its parent."""
    if os.getpid() != _owner:
        os._exit(1)


def shown_traceback(error: BaseException) -> str:
    """The end of its traceback, as much as is kept."""
    try:
        return "".join(traceback.format_exception(error))[-LARGEST_NOTE:]
    except Exception:
        return ""


def flush() -> None:
    """Write what was printed so far."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
