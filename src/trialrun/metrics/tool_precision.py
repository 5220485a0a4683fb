"""`tool_precision`: how many of the used tools were expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.measures.sets import tool_precision
from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class ToolPrecisionMetric(BuiltInMetric):
    """The share of the used tools that were expected; undefined if the case names none."""

    name = "tool_precision"
    unit = "ratio"
    needs = frozenset({TOOL_CALLS})
    formula = "|E ∩ U| / |U|"

    def measure(
        self, trace: Trace, test_case: EvalCase | None
    ) -> tuple[float | None, dict[str, Any]]:
        expected = None if test_case is None else test_case.expected_tools
        if expected is None:
            return None, {"message": "the case has no expected_tools"}
        return tool_precision(expected, trace.tools_used), {"expected": list(expected)}
