"""`reasoning_depth`: how many reasoning steps the run has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.metrics.base import BuiltInMetric
from trialrun.model.results import MetricResult
from trialrun.model.trace import REASONING, StepType, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase

_REASONING = StepType.REASONING


class ReasoningDepthMetric(BuiltInMetric):
    """The number of reasoning steps."""

    name = "reasoning_depth"
    needs = frozenset({REASONING})
    higher_is_better = None
    formula = "|reasoning steps|"

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        texts = [step.reasoning_text or "" for step in trace.steps if step.type is _REASONING]
        if not texts:
            return MetricResult(self.name, 0, self.unit, {"message": "No reasoning steps"})
        characters = sum(map(len, texts))
        return MetricResult(
            self.name,
            len(texts),
            self.unit,
            {
                "reasoning_step_count": len(texts),
                "total_characters": characters,
                "avg_characters": round(characters / len(texts), 1),
            },
        )
