"""`max_handoff_count`: the run has at most this many handoffs."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks.base import Check, Whole, check, counted, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import Step, StepType, Trace

_HANDOFF = StepType.HANDOFF


@check(layer="path")
class MaxHandoffCount(Check):
    """Fails when there are more handoffs than this."""

    limit: Whole

    formula: ClassVar = "|handoff steps| ≤ limit"
    when_passed: ClassVar = "within the limit"
    examples: ClassVar = (
        passes(1, steps=[Step.handoff("billing")]),
        fails(0, steps=[Step.handoff("billing")], because="1 handoff, limit 0"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        handoffs = sum(step.type is _HANDOFF for step in trace.steps)
        if handoffs <= self.limit:
            return self.pass_result
        return self.failed(f"{counted(handoffs, 'handoff')}, limit {self.limit}")
