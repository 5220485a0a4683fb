"""A plain function as a check: `my_checks:polite` in a spec, or the function itself in code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from types import new_class
from typing import Any, ClassVar

import msgspec

from trialrun.checks.base import JUDGED_CASE, Check, check, snake
from trialrun.model.evidence import ANSWER, TOOL_CALLS
from trialrun.model.results import CheckResult
from trialrun.model.trace import Step, Trace
from trialrun.redaction import is_masked
from trialrun.util.coroutines import run_coroutine
from trialrun.util.texts import short_repr

_GIVEN: Mapping[str, Callable[[Trace, Trace | None], Any]] = {
    "answer": lambda trace, baseline: trace.output,
    "output": lambda trace, baseline: trace.output,
    "trace": lambda trace, baseline: trace,
    "steps": lambda trace, baseline: trace.steps,
    "tool_calls": lambda trace, baseline: trace.tool_calls,
    "input": lambda trace, baseline: trace.input,
    "case": lambda trace, baseline: msgspec.structs.replace(JUDGED_CASE.get()),
    "baseline": lambda trace, baseline: baseline,
}
# A function that takes the trace is not judged where the steps were never given.
_NEEDS = {
    "answer": ANSWER,
    "output": ANSWER,
    "trace": TOOL_CALLS,
    "steps": TOOL_CALLS,
    "tool_calls": TOOL_CALLS,
}


class FunctionCheck(Check):
    """Passes when the function returns True.

    False fails; a text fails with that reason; a `CheckResult` is taken as it is; anything else,
    and an exception, is unknown. The function may be async. It gets what its parameters name:
    `answer` (or `output`), `trace`, `steps`, `tool_calls`, `input`, `case`, `baseline`.
    """

    function: ClassVar[Callable[..., Any]]
    takes: ClassVar[tuple[str, ...]]
    is_flag: ClassVar = True
    formula: ClassVar = "the function returns True"
    when_passed: ClassVar = "the function returned True"

    asked: bool = True

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        seen = trace.output if set(self.takes) <= {"answer", "output", "input", "case"} else trace
        if _has_masks(seen):
            return self.redacted("what the function looks at")
        given = {name: _GIVEN[name](trace, baseline) for name in self.takes}
        returned = type(self).function(**given)
        if isinstance(returned, Coroutine):
            returned = run_coroutine(returned)
        return self._result_of(returned)

    def _result_of(self, returned: Any) -> CheckResult:
        if type(returned).__module__ == "numpy" and type(returned).__name__ in ("bool", "bool_"):
            returned = bool(returned)
        if returned is True:
            return self.pass_result
        if returned is False:
            return self.failed("the function returned False")
        if isinstance(returned, str) and returned.strip():
            return self.failed(returned)
        if isinstance(returned, CheckResult):
            return msgspec.structs.replace(returned, name=self.name)
        what = "nothing" if returned is None else short_repr(returned)
        return self.unknown(
            f"the function returned {what}; expected True, False, a reason or a CheckResult"
        )


def _has_masks(seen: Any) -> bool:
    """Whether secrets were masked in what the function looks at: they could decide."""
    if not isinstance(seen, Trace):
        return is_masked(seen)
    return is_masked([seen.input, seen.output]) or any(map(_is_masked_step, seen.steps))


def _is_masked_step(step: Step) -> bool:
    return is_masked([getattr(step, field) for field in ("tool_name", "tool_args", "tool_result")])


@cache
def kind_of(function: Callable[..., Any]) -> type[FunctionCheck]:
    """The kind of check that the function is. ValueError if it takes what no check can give."""
    declared = getattr(function, "__trialrun_check__", {})
    takes = _parameters(function)
    needs = declared.get("needs") or {_NEEDS[name] for name in takes if name in _NEEDS}
    title = getattr(function, "__name__", type(function).__name__)

    def fill(namespace: dict[str, Any]) -> None:
        namespace["function"] = staticmethod(function)
        namespace["takes"] = takes
        namespace["takes_case"] = "case" in takes
        namespace["any_layer"] = "layer" not in declared
        namespace["__doc__"] = inspect.getdoc(function) or FunctionCheck.__doc__
        namespace["__module__"] = getattr(function, "__module__", None) or "functions"

    options = {"kw_only": True, "dict": True}
    kind: type[FunctionCheck] = new_class(title.strip("<>"), (FunctionCheck,), options, fill)
    name = declared.get("name") or snake(title.strip("<>"))
    settings = {"layer": "correctness", **declared, "name": name, "needs": needs}
    return check(**settings)(kind)


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    names = ", ".join(_GIVEN)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ValueError(f"its parameters cannot be read; expected some of {names}") from None
    found = []
    for one in parameters:
        optional = one.default is not one.empty or one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
        if one.name in _GIVEN and one.kind is not one.POSITIONAL_ONLY:
            found.append(one.name)
        elif not optional:
            raise ValueError(f"its parameter `{one.name}` is not one of {names}")
    if not set(found) & set(_NEEDS):
        raise ValueError(f"it takes nothing of the run: name a parameter {', '.join(_NEEDS)}")
    return tuple(found)
