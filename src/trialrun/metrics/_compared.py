"""The bases of the metrics that compare a run's calls with those that the case names."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from collections.abc import Collection

    from trialrun.model.case import EvalCase


class ToolsMetric(BuiltInMetric):
    """A metric that compares the tools used with the `expected_tools` of the case."""

    unit = "ratio"
    highest = 1.0
    needs = frozenset({TOOL_CALLS})
    higher_is_better = True

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        expected = None if test_case is None else test_case.expected_tools
        if expected is None:
            return self.result(None, message="the case has no expected_tools")
        return self.result(self.compare(expected, trace.tools_used), expected=list(expected))

    @abstractmethod
    def compare(self, expected: Collection[str], used: Collection[str]) -> float:
        """The value of the metric."""


class OrderMetric(BuiltInMetric):
    """A metric of similarity to `reference_tools` of the case or the baseline's calls."""

    unit = "ratio"
    highest = 1.0
    needs = frozenset({TOOL_CALLS})
    higher_is_better = True
    uses_reference = True

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        reference = None if test_case is None else test_case.reference_tools
        if reference is None:
            return self.result(None, message="the case has no reference")
        similarity = self.compare(trace.tool_call_sequence, list(reference))
        return self.result(similarity, reference=list(reference))

    @abstractmethod
    def compare(self, calls: list[str], reference: list[str]) -> float:
        """The value of the metric."""
