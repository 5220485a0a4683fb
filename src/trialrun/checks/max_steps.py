"""`max_steps`: the run has at most this many steps."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._limits import at_most, beyond
from trialrun.checks.base import Check, Description, Whole, check, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MaxSteps(Check):
    """Fails when the trace has more steps, of every type, than this."""

    limit: Whole

    shareable: ClassVar = True
    formula: ClassVar = "|steps| ≤ limit"
    examples: ClassVar = (
        passes(2, tools=["a", "b"]),
        fails(1, tools=["a", "b"], because="2 steps, limit 1"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if trace.step_count <= self.limit:
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        data = {"found": trace.step_count, "limit": self.limit}
        text = at_most(trace.step_count, "step", self.limit)
        return text, data | beyond(trace.steps, self.limit)
