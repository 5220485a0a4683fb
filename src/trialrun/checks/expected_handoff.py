"""`expected_handoff`: the work was handed to that agent."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Description, Text, Texts, check, fails, is_unknown, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import HANDOFFS, Step, StepType, Trace

_HANDOFF = StepType.HANDOFF


@check(layer="path", needs={HANDOFFS})
class ExpectedHandoff(Check):
    """Fails when no handoff went to that agent. With a list, every agent in it needs a handoff."""

    agent: Text | Texts

    shareable: ClassVar = True
    formula: ClassVar = "∃ handoff step: its target is the agent"
    when_passed: ClassVar = "the handoff happened"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes("billing", steps=[Step.handoff("billing")]),
        fails("billing", steps=[Step.handoff("sales")], because="handed to sales"),
        fails("billing", because="no handoff"),
        is_unknown("billing", steps=[Step.handoff("[redacted]")], because="redacted"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        wanted = [self.agent] if isinstance(self.agent, str) else self.agent
        targets = [step.handoff_to or "?" for step in trace.steps if step.type is _HANDOFF]
        missing = [agent for agent in wanted if agent not in targets]
        if not missing:
            return self.pass_result
        if any_masked(targets):
            return self.redacted("the handoffs")
        found = f"handed to {', '.join(targets)}" if targets else "no handoff happened"
        text = f"expected a handoff to {', '.join(missing)}; {found}"
        return self.failed(text, {"wanted": wanted, "found": targets, "missing": missing})

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        targets = [step.handoff_to for step in trace.steps if step.type is _HANDOFF]
        return self.when_passed, {"wanted": self.agent, "found": targets}
