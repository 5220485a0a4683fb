"""`avg_step_duration`: how long a step takes on average."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TIMINGS, TOOL_CALLS, StepType, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class AverageStepDurationMetric(BuiltInMetric):
    """The mean duration of a step; a step without one counts as 0. 0 without steps."""

    name = "avg_step_duration"
    unit = "ms"
    needs = frozenset({TIMINGS, TOOL_CALLS})
    higher_is_better = False
    formula = "Σ durations / |steps|, 2 digits"

    def lacks(self, trace: Trace, result: MetricResult) -> str | None:
        for step in trace.steps:
            if step.duration_ms is None and step.type is not StepType.HUMAN_INPUT:
                return f"step {step.id} has no duration"
        return None

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        if not trace.steps:
            return MetricResult(self.name, 0.0, self.unit, {})
        total = sum(step.duration_ms or 0 for step in trace.steps)
        count = len(trace.steps)
        return MetricResult(
            self.name,
            round(total / count, 2),
            self.unit,
            {"total_duration_ms": total, "step_count": count},
        )
