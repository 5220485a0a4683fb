"""`tool_call_count`: how many tool calls the run has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class ToolCallCountMetric(BuiltInMetric):
    """The number of tool calls, failed ones included."""

    name = "tool_call_count"
    unit = "calls"
    needs = frozenset({TOOL_CALLS})
    higher_is_better = False
    formula = "|P|"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        calls = trace.tool_call_sequence
        return MetricResult(self.name, float(len(calls)), self.unit, {"tools": list(calls)})
