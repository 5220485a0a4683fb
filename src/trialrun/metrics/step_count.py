"""`step_count`: how many steps the run has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class StepCountMetric(BuiltInMetric):
    """The number of steps of every type."""

    name = "step_count"
    unit = "steps"
    needs = frozenset({TOOL_CALLS})
    higher_is_better = False
    formula = "|steps|"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        return MetricResult(self.name, float(len(trace.steps)), self.unit, {})
