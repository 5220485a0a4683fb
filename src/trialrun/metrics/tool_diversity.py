"""`tool_diversity`: the share of different tools among the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class ToolDiversityMetric(BuiltInMetric):
    """Different tools divided by tool calls; 0 without calls."""

    name = "tool_diversity"
    unit = "ratio"
    highest = 1.0
    needs = frozenset({TOOL_CALLS})
    higher_is_better = None
    formula = "|U| / |P|"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        total = len(trace.tool_call_sequence)
        if not total:
            return MetricResult(self.name, 0.0, self.unit, {})
        unique = len(trace.tools_used)
        return MetricResult(
            self.name, unique / total, self.unit, {"unique_tools": unique, "total_calls": total}
        )
