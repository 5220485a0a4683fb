"""`tool_recall`: how many of the expected tools were used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.measures.sets import tool_recall
from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class ToolRecallMetric(BuiltInMetric):
    """The share of the expected tools that were used; undefined if the case names none."""

    name = "tool_recall"
    unit = "ratio"
    needs = frozenset({TOOL_CALLS})
    formula = "|E ∩ U| / |E|"

    def measure(
        self, trace: Trace, test_case: EvalCase | None
    ) -> tuple[float | None, dict[str, Any]]:
        expected = None if test_case is None else test_case.expected_tools
        if expected is None:
            return None, {"message": "the case has no expected_tools"}
        return tool_recall(expected, trace.tools_used), {"expected": list(expected)}
