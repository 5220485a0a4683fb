"""`min_steps`: the run has at least this many steps."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks.base import Check, Description, check, counted, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MinSteps(Check):
    """Fails when the trace has fewer steps, of every type, than this."""

    minimum: Annotated[int, Meta(ge=1)]

    shareable: ClassVar = True
    formula: ClassVar = "|steps| ≥ minimum"
    examples: ClassVar = (
        passes(2, tools=["a", "b"]),
        fails(3, tools=["a", "b"], because="2 steps, at least 3"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if trace.step_count >= self.minimum:
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        text = f"{counted(trace.step_count, 'step')}, at least {self.minimum:,}"
        return text, {"found": trace.step_count, "minimum": self.minimum}
