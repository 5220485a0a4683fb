"""`min_steps`: the run has at least this many steps."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks.base import Check, Whole, check, counted, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MinSteps(Check):
    """Fails when the trace has fewer steps, of every type, than this."""

    minimum: Whole

    formula: ClassVar = "|steps| ≥ minimum"
    when_passed: ClassVar = "enough steps"
    examples: ClassVar = (
        passes(2, tools=["a", "b"]),
        fails(3, tools=["a", "b"], because="2 steps, at least 3"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if trace.step_count >= self.minimum:
            return self.pass_result
        return self.failed(f"{counted(trace.step_count, 'step')}, at least {self.minimum}")
