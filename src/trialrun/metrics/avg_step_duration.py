"""`avg_step_duration`: how long a step takes on average."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TIMINGS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class AverageStepDurationMetric(BuiltInMetric):
    """The mean duration of a step; a step without one counts as 0, as does a run without steps."""

    name = "avg_step_duration"
    unit = "ms"
    needs = frozenset({TIMINGS})
    formula = "Σ durations / |steps|, 2 digits"

    def measure(self, trace: Trace, test_case: EvalCase | None) -> tuple[float, dict[str, Any]]:
        if not trace.steps:
            return 0.0, {}
        total = sum(step.duration_ms or 0 for step in trace.steps)
        count = len(trace.steps)
        return round(total / count, 2), {"total_duration_ms": total, "step_count": count}
