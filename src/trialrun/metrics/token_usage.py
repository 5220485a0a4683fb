"""`token_usage`: how many tokens the model calls used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOKENS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class TokenUsageMetric(BuiltInMetric):
    """Tokens of all model calls; undefined if one of them has no count."""

    name = "token_usage"
    unit = "tokens"
    needs = frozenset({TOKENS})
    higher_is_better = False
    formula = "Σ tokens of the model calls"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        total = trace.summed_tokens
        return MetricResult(
            self.name,
            None if total is None else float(total),
            self.unit,
            {"llm_calls": len(trace.llm_calls)},
        )
