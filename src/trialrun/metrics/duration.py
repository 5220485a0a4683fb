"""`duration`: how long the run took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TIMINGS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class DurationMetric(BuiltInMetric):
    """Milliseconds from start to end; 0 for a run without steps, undefined without any times."""

    name = "duration"
    unit = "ms"
    needs = frozenset({TIMINGS})
    formula = "own duration, else last end − first start, else Σ durations of the steps"

    def measure(
        self, trace: Trace, test_case: EvalCase | None
    ) -> tuple[float | None, dict[str, Any]]:
        total = trace.total_duration_ms
        return (0.0 if total is None and not trace.steps else total), {}
