"""`reasoning_depth`: how many steps of reasoning the run has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import REASONING, StepType, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase

_REASONING = StepType.REASONING


class ReasoningDepthMetric(BuiltInMetric):
    """The number of reasoning steps."""

    name = "reasoning_depth"
    needs = frozenset({REASONING})
    formula = "|reasoning steps|"

    def measure(self, trace: Trace, test_case: EvalCase | None) -> tuple[float, dict[str, Any]]:
        texts = [step.reasoning_text or "" for step in trace.steps if step.type is _REASONING]
        if not texts:
            return 0, {"message": "No reasoning steps"}
        characters = sum(map(len, texts))
        return len(texts), {
            "reasoning_step_count": len(texts),
            "total_characters": characters,
            "avg_characters": round(characters / len(texts), 1),
        }
