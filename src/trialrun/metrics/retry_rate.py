"""`retry_rate`: the share of tool calls that repeat a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class RetryRateMetric(BuiltInMetric):
    """1 − different tools / tool calls: 0 without repeats, 0.5 if half of the calls repeat."""

    name = "retry_rate"
    highest = 1.0
    needs = frozenset({TOOL_CALLS})
    higher_is_better = False
    formula = "1 − |U| / |P|, 3 digits"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        total = len(trace.tool_call_sequence)
        if not total:
            return MetricResult(self.name, 0.0, self.unit, {"message": "No tool calls"})
        unique = len(trace.tools_used)
        return MetricResult(
            self.name,
            round(1 - unique / total, 3),
            self.unit,
            {
                "total_calls": total,
                "unique_tools": unique,
                "repeated_calls": total - unique,
            },
        )
