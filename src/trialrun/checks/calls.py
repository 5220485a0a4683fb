"""`calls`: each of these tools was called at least and at most so often."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import ClassVar

from msgspec import Struct

from trialrun.checks.base import (
    Check,
    Description,
    Whole,
    check,
    counted,
    fails,
    is_unknown,
    passes,
)
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace
from trialrun.redaction import is_masked


class Bounds(Struct, frozen=True, omit_defaults=True):
    """How often a tool may be called: `min`, `max` or both."""

    min: Whole | None = None
    max: Whole | None = None

    def __post_init__(self) -> None:
        if self.max is None and not self.min:
            raise ValueError("could only pass: give `min` (1 or more), `max` or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"could only fail: `min` {self.min} is more than `max` {self.max}")


@check(layer="path", needs={TOOL_CALLS})
class Calls(Check):
    """Fails when a tool was called more or less often than this.

    `calls: {search: {min: 1, max: 3}, delete_user: {max: 0}}`. A call counts whether or not it
    succeeded. Names must match exactly; names with `*`, `?` or `[…]` are globs, and all calls that
    match one are counted together.
    """

    bounds: dict[str, Bounds]

    shareable: ClassVar = True
    formula: ClassVar = "∀ tool: min ≤ |calls of the tool| ≤ max"
    when_passed: ClassVar = "every tool was called as often as wanted"
    examples: ClassVar = (
        passes({"search": {"min": 1, "max": 3}, "delete_user": {"max": 0}}, tools=["search"]),
        fails({"search": {"min": 2}}, tools=["search"], because="`search` 1 time, at least 2"),
        fails(
            {"delete_user": {"max": 0}},
            tools=["search", "delete_user"],
            because="`delete_user` 1 time, at most 0",
        ),
        is_unknown({"delete_user": {"max": 0}}, tools=["[redacted]"], because="redacted"),
    )

    def validate(self) -> None:
        if not self.bounds:
            raise ValueError("expected a mapping that is not empty: `search: {min: 1, max: 3}`")
        if "" in self.bounds:
            raise ValueError("a tool has a name that is not empty")

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        made = Counter(trace.tool_call_sequence)
        hidden = sum(number for name, number in made.items() if is_masked(name))
        wrong, undecided = [], False
        for tool, bounds in self.bounds.items():
            number = _number(made, tool)
            low, high = bounds.min or 0, bounds.max
            if number + hidden < low:
                wrong.append(f"`{tool}` {counted(number, 'time')}, at least {low}")
            elif high is not None and number > high:
                wrong.append(f"`{tool}` {counted(number, 'time')}, at most {high}")
            elif number < low or (high is not None and number + hidden > high):
                undecided = True
        if wrong:
            return self.failed(f"called {'; '.join(wrong)}", self.describe(trace, baseline)[1])
        return self.redacted("the tools' names") if undecided else self.pass_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        made = Counter(trace.tool_call_sequence)
        found = {tool: _number(made, tool) for tool in self.bounds}
        wanted = {tool: {"min": one.min, "max": one.max} for tool, one in self.bounds.items()}
        text = "; ".join(f"`{tool}` {counted(number, 'time')}" for tool, number in found.items())
        return f"called {text}", {"found": found, "wanted": wanted}


def _number(made: Counter[str], tool: str) -> int:
    if not any(sign in tool for sign in "*?["):
        return made[tool]
    return sum(
        number
        for name, number in made.items()
        if name == tool or (not is_masked(name) and fnmatchcase(name, tool))
    )
