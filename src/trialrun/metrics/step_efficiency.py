"""`step_efficiency`: whether the run stayed within the steps that the case allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class StepEfficiencyMetric(BuiltInMetric):
    """1 within the case's `max_steps` (or without one), else max / actual."""

    name = "step_efficiency"
    unit = "ratio"
    highest = 1.0
    needs = frozenset({TOOL_CALLS})
    higher_is_better = True
    formula = "min(1, max_steps / |steps|)"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        steps = trace.step_count
        limit = None if test_case is None else test_case.max_steps
        value = 1.0 if limit is None or steps <= limit else limit / steps
        return MetricResult(
            self.name, value, self.unit, {"actual_steps": steps, "max_steps": limit}
        )
