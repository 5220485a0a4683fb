"""`loop_count`: how many calls use the same tool as the call before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.measures.loops import loop_count
from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class LoopCountMetric(BuiltInMetric):
    """Calls of the same tool as the call before: 3 in `[search, search, grade, grade, grade]`."""

    name = "loop_count"
    unit = "loops"
    needs = frozenset({TOOL_CALLS})
    higher_is_better = False
    formula = "|{i : P[i] = P[i+1]}|"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        return MetricResult(self.name, float(loop_count(trace.tool_call_sequence)), self.unit, {})
