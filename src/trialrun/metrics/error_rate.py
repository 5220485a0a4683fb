"""`error_rate`: the share of steps that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_CALLS, StepStatus, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase

_FAILURE = StepStatus.FAILURE


class ErrorRateMetric(BuiltInMetric):
    """Failed steps divided by steps; 0 without steps."""

    name = "error_rate"
    unit = "ratio"
    highest = 1.0
    needs = frozenset({TOOL_CALLS})
    higher_is_better = False
    formula = "|failed steps| / |steps|"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        if not trace.steps:
            return MetricResult(self.name, 0.0, self.unit, {})
        failed = sum(step.status is _FAILURE for step in trace.steps)
        total = len(trace.steps)
        return MetricResult(
            self.name, failed / total, self.unit, {"error_count": failed, "total_steps": total}
        )
