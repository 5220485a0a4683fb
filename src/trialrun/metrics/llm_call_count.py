"""`llm_call_count`: how many times a model was called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class LLMCallCountMetric(BuiltInMetric):
    """The number of model calls."""

    name = "llm_call_count"
    unit = "calls"
    formula = "|model calls|"

    def measure(self, trace: Trace, test_case: EvalCase | None) -> tuple[float, dict[str, Any]]:
        return float(trace.total_llm_calls), {}
