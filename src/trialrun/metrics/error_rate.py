"""`error_rate`: the share of steps that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import StepStatus, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase

_FAILURE = StepStatus.FAILURE


class ErrorRateMetric(BuiltInMetric):
    """Failed steps divided by steps; 0 without steps."""

    name = "error_rate"
    unit = "ratio"
    formula = "|failed steps| / |steps|"

    def measure(self, trace: Trace, test_case: EvalCase | None) -> tuple[float, dict[str, Any]]:
        if not trace.steps:
            return 0.0, {}
        failed = sum(step.status is _FAILURE for step in trace.steps)
        total = len(trace.steps)
        return failed / total, {"error_count": failed, "total_steps": total}
