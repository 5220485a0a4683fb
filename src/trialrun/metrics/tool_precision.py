"""`tool_precision`: how many of the used tools were expected."""

from __future__ import annotations

from collections.abc import Collection

from trialrun.measures.sets import tool_precision
from trialrun.metrics._compared import ToolsMetric


class ToolPrecisionMetric(ToolsMetric):
    """The share of the used tools that were expected; undefined if the case names none."""

    name = "tool_precision"
    formula = "|E ∩ U| / |U|"

    def compare(self, expected: Collection[str], used: Collection[str]) -> float:
        return tool_precision(expected, used)
