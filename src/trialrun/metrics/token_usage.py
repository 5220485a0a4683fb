"""`token_usage`: how many tokens the model calls used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TOKENS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class TokenUsageMetric(BuiltInMetric):
    """Tokens of all model calls together; undefined if one of them has no count."""

    name = "token_usage"
    unit = "tokens"
    needs = frozenset({TOKENS})
    formula = "Σ tokens of the model calls"

    def measure(
        self, trace: Trace, test_case: EvalCase | None
    ) -> tuple[float | None, dict[str, Any]]:
        total = trace.total_tokens
        return None if total is None else float(total), {"llm_calls": len(trace.llm_calls)}
