"""`tool_precision`: the share of the used tools that were expected."""

from __future__ import annotations

from collections.abc import Collection

from trialrun.measures.sets import tool_precision
from trialrun.metrics._compared import ToolsMetric


class ToolPrecisionMetric(ToolsMetric):
    """The share of the used tools that were expected; undefined without `expected_tools`."""

    name = "tool_precision"
    formula = "|E ∩ U| / |U|"

    def compare(self, expected: Collection[str], used: Collection[str]) -> float:
        return tool_precision(expected, used)
