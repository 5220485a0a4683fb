"""`max_handoff_count`: the run has at most this many handoffs."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._limits import at_most
from trialrun.checks.base import Check, Description, Whole, check, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import HANDOFFS, Step, StepType, Trace

_HANDOFF = StepType.HANDOFF


@check(layer="path", needs={HANDOFFS})
class MaxHandoffCount(Check):
    """Fails when there are more handoffs than this."""

    limit: Whole

    shareable: ClassVar = True
    formula: ClassVar = "|handoff steps| ≤ limit"
    examples: ClassVar = (
        passes(1, steps=[Step.handoff("billing")]),
        fails(0, steps=[Step.handoff("billing")], because="1 handoff, limit 0"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        handoffs = sum(step.type is _HANDOFF for step in trace.steps)
        if handoffs <= self.limit:
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        targets = [step.handoff_to for step in trace.steps if step.type is _HANDOFF]
        text = at_most(len(targets), "handoff", self.limit)
        return text, {"found": len(targets), "limit": self.limit, "agents": targets}
