"""`duration`: how long the run took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TIMINGS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class DurationMetric(BuiltInMetric):
    """Milliseconds from start to end; 0 without steps, undefined without times."""

    name = "duration"
    unit = "ms"
    needs = frozenset({TIMINGS})
    higher_is_better = False
    formula = "the trace's duration, else last end − first start, else Σ durations of the steps"

    def lacks(self, trace: Trace, result: MetricResult) -> str | None:
        if result.value == 0 and trace.total_duration_ms is None:
            return "the trace has no duration, no times and no step with a duration"
        return None

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        total = trace.measured_ms()
        return MetricResult(
            self.name, (0.0 if total is None and not trace.steps else total), self.unit, {}
        )
