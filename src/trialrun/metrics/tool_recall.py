"""`tool_recall`: the share of the expected tools that were used."""

from __future__ import annotations

from collections.abc import Collection

from trialrun.measures.sets import tool_recall
from trialrun.metrics._compared import ToolsMetric


class ToolRecallMetric(ToolsMetric):
    """The share of the expected tools that were used; undefined without `expected_tools`."""

    name = "tool_recall"
    formula = "|E ∩ U| / |E|"

    def compare(self, expected: Collection[str], used: Collection[str]) -> float:
        return tool_recall(expected, used)
