"""`max_repeats`: the agent does not repeat the same call too often."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks.base import Check, Description, check, fails, is_unknown, passes
from trialrun.measures.loops import most_repeated
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_ARGS, TOOL_CALLS, Step, Trace
from trialrun.redaction import is_masked


@check(layer="path", needs={TOOL_CALLS, TOOL_ARGS})
class MaxRepeats(Check):
    """Fails when the same call with the same arguments is made more often than this.

    Adjacent or not: this finds A-B-A-B, which `max_loops` does not.
    """

    limit: Annotated[int, Meta(ge=1)]

    shareable: ClassVar = True
    formula: ClassVar = "max over (tool, arguments) of its number of calls ≤ limit"
    examples: ClassVar = (
        passes(
            1, steps=[Step.tool_call("search", {"q": "a"}), Step.tool_call("search", {"q": "b"})]
        ),
        fails(1, tools=["a", "b", "a", "b"], because="`a` was called 2 times"),
        is_unknown(
            1,
            steps=[Step.tool_call("login", {"key": "[redacted]"})] * 2,
            because="redacted",
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        calls = [(step.tool_name or "", step.tool_args or {}) for step in trace.tool_calls]
        most = most_repeated(calls)
        if most is None or most[1] <= self.limit:
            return self.pass_result
        bare = [step for step in trace.tool_calls if step.tool_args is None]
        if bare:  # calls without recorded arguments only look equal
            calls = [
                (step.tool_name or "", step.tool_args)
                for step in trace.tool_calls
                if step.tool_args is not None
            ]
            most = most_repeated(calls)
            if most is None or most[1] <= self.limit:
                return self.unknown(f"the arguments of step {bare[0].id} were not recorded")
        # Different calls may look equal when masked; equal calls never look different.
        most = most_repeated(call for call in calls if not is_masked(call))
        if most is None or most[1] <= self.limit:
            return self.redacted("the calls")
        return self.failed(*_repeated(most, self.limit))

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        calls = [(step.tool_name or "", step.tool_args or {}) for step in trace.tool_calls]
        return _repeated(most_repeated(calls), self.limit)


def _repeated(most: tuple[str, int] | None, limit: int) -> Description:
    if most is None:
        return f"no tool was called, limit {limit}", {"found": 0, "limit": limit}
    name, count = most
    times = "once" if count == 1 else f"{count} times"
    text = f"`{name}` was called {times} with the same arguments, limit {limit}"
    return text, {"found": count, "limit": limit, "tool": name}
