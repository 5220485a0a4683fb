"""`tool_f1`: how well the used tools and the expected ones agree."""

from __future__ import annotations

from collections.abc import Collection

from trialrun.measures.sets import tool_f1
from trialrun.metrics._compared import ToolsMetric


class ToolF1Metric(ToolsMetric):
    """The harmonic mean of tool recall and precision; undefined without `expected_tools`."""

    name = "tool_f1"
    formula = "2 · precision · recall / (precision + recall)"

    def compare(self, expected: Collection[str], used: Collection[str]) -> float:
        return tool_f1(expected, used)
