"""`llm_call_count`: how many times a model was called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import LLM_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class LLMCallCountMetric(BuiltInMetric):
    """The number of model calls."""

    name = "llm_call_count"
    unit = "calls"
    needs = frozenset({LLM_CALLS})
    higher_is_better = False
    formula = "|model calls|"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        return MetricResult(self.name, float(trace.total_llm_calls), self.unit, {})
