"""`token_cost`: what the tokens of the run cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.steps import lacks_usage
from trialrun.model.trace import COSTS, Step, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase


class TokenCostMetric(BuiltInMetric):
    """Dollars of all model calls; undefined as soon as the price of one is unknown.

    A subclass may set `PRICES` (dollars per million tokens, `{"gpt-4o": {"input": 2.5, "output":
    10}}`): the longest name that matches the model counts, before recorded costs and list prices.
    """

    name = "token_cost"
    unit = "USD"
    needs = frozenset({COSTS})
    higher_is_better = False
    formula = "Σ tokens · price / 1,000,000, 6 digits"

    PRICES: ClassVar[dict[str, dict[str, float]]] = {}

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        from trialrun import pricing

        details: dict[str, Any] = {}
        costs, unknown = [], []
        silent = lacks_usage(trace.llm_calls)
        for step in trace.llm_calls:
            cost = self._own_price(step)
            if cost is None:
                cost = pricing.step_cost(step)
            if cost is None or (silent and step.cost_usd is None):
                unknown.append(step)
            else:
                costs.append(cost)
            details[step.id] = {
                "model": step.model,
                "input_tokens": step.tokens.prompt_tokens if step.tokens else None,
                "output_tokens": step.tokens.completion_tokens if step.tokens else None,
                "cost": None if cost is None else round(cost, 6),
            }
        if unknown:
            return MetricResult(
                self.name,
                None,
                self.unit,
                {**details, "message": "; ".join(pricing.unpriced(unknown))},
            )
        return MetricResult(self.name, round(math.fsum(costs), 6), self.unit, details)

    def _own_price(self, step: Step) -> float | None:
        if not self.PRICES or step.tokens is None or not step.model:
            return None
        from trialrun import pricing

        name = pricing.longest_fit(step.model, self.PRICES)
        if name is None:
            return None
        return pricing.cost_at(pricing.Rates(**self.PRICES[name]), step.tokens, step.model)
