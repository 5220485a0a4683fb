"""`max_repeats`: the agent does not make the same call over and over."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks.base import Check, check, fails, passes
from trialrun.measures.loops import most_repeated
from trialrun.results import CheckResult
from trialrun.trace import TOOL_ARGS, TOOL_CALLS, Step, Trace


@check(layer="path", needs={TOOL_CALLS, TOOL_ARGS})
class MaxRepeats(Check):
    """Fails when the same call with the same arguments is made more often than this.

    Adjacent or not: this catches A-B-A-B, which `max_loops` cannot see.
    """

    limit: Annotated[int, Meta(ge=1)]

    formula: ClassVar = "max over (tool, arguments) of its number of calls ≤ limit"
    when_passed: ClassVar = "no call is repeated more often"
    examples: ClassVar = (
        passes(
            1, steps=[Step.tool_call("search", {"q": "a"}), Step.tool_call("search", {"q": "b"})]
        ),
        fails(1, tools=["a", "b", "a", "b"], because="`a` was called 2 times"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        most = most_repeated(
            (step.tool_name or "", step.tool_args or {}) for step in trace.tool_calls
        )
        if most is None or most[1] <= self.limit:
            return self.pass_result
        name, count = most
        return self.failed(
            f"`{name}` was called {count} times with the same arguments, limit {self.limit}"
        )
