"""`hallucination_check`: a judge holds the answer against what the tools returned."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks.base import ANSWER, Check, check, is_unknown
from trialrun.test_case import Rubric


@check(layer="correctness", needs={ANSWER})
class HallucinationCheck(Check):
    """Passes when the judge's score reaches the rubric's minimum; one rubric, as in `llm_judge`.

    The judge is given what the tools returned in this run as the context to hold the answer
    against. Runs after `safety_check`, and is skipped if an earlier judge failed.
    """

    rubric: Rubric

    judged: ClassVar = True
    formula: ClassVar = "score ≥ max(1, int(threshold × 5 + 0.5))"
    recommended: ClassVar = "threshold 0.8 for factual grounding"
    examples: ClassVar = (
        is_unknown({"rule": "every figure is in the context"}, because="no judge configured"),
    )
