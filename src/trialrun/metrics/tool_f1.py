"""`tool_f1`: how well the used tools and the expected ones agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.measures.sets import tool_f1
from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class ToolF1Metric(BuiltInMetric):
    """The harmonic mean of tool recall and precision; undefined if the case names none."""

    name = "tool_f1"
    unit = "ratio"
    needs = frozenset({TOOL_CALLS})
    formula = "2 · precision · recall / (precision + recall)"

    def measure(
        self, trace: Trace, test_case: EvalCase | None
    ) -> tuple[float | None, dict[str, Any]]:
        expected = None if test_case is None else test_case.expected_tools
        if expected is None:
            return None, {"message": "the case has no expected_tools"}
        return tool_f1(expected, trace.tools_used), {"expected": list(expected)}
