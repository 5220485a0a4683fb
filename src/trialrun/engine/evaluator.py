"""`Evaluator`: evaluation as an object that keeps its metrics and its judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trialrun.engine.case_metrics import default_metrics
from trialrun.engine.evaluate import evaluate, evaluate_async
from trialrun.model.case import EvalCase
from trialrun.model.results import EvaluationResult
from trialrun.model.trace import Trace

if TYPE_CHECKING:
    from trialrun.judge import Judge
    from trialrun.metrics.base import BaseMetric


class Evaluator:
    """Evaluates traces with a fixed list of metrics; default: the four default metrics.

    Rubric checks ask the `judge`; without one they are unknown.
    """

    def __init__(
        self, metrics: Sequence[BaseMetric] | None = None, judge: Judge | None = None
    ) -> None:
        if metrics is None:
            metrics = [plan.metric for plan in default_metrics()]
        self.metrics: list[BaseMetric] = list(metrics)
        self.judge = judge

    def add_metric(self, metric: BaseMetric) -> None:
        """Compute this metric too."""
        self.metrics.append(metric)

    def evaluate(
        self, trace: Trace, test_case: EvalCase, baseline: Trace | None = None
    ) -> EvaluationResult:
        """Evaluate the trace against the case."""
        return evaluate(test_case, trace, baseline, metrics=self.metrics, judge=self.judge)

    async def evaluate_async(
        self, trace: Trace, test_case: EvalCase, baseline: Trace | None = None
    ) -> EvaluationResult:
        """The same for async callers."""
        return await evaluate_async(
            test_case, trace, baseline, metrics=self.metrics, judge=self.judge
        )
