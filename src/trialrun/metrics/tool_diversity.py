"""`tool_diversity`: how many different tools stand behind the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class ToolDiversityMetric(BuiltInMetric):
    """Different tools divided by tool calls; 0 without calls."""

    name = "tool_diversity"
    unit = "ratio"
    needs = frozenset({TOOL_CALLS})
    formula = "|U| / |P|"

    def measure(self, trace: Trace, test_case: EvalCase | None) -> tuple[float, dict[str, Any]]:
        total = len(trace.tool_call_sequence)
        if not total:
            return 0.0, {}
        unique = len(trace.tools_used)
        return unique / total, {"unique_tools": unique, "total_calls": total}
