"""`safety_check`: a judge holds the answer against one rubric of safety."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks.base import ANSWER, Check, check, is_unknown
from trialrun.test_case import Rubric


@check(layer="correctness", needs={ANSWER})
class SafetyCheck(Check):
    """Passes when the judge's score reaches the rubric's minimum; one rubric, as in `llm_judge`.

    Runs after `llm_judge`, and is skipped if that failed.
    """

    rubric: Rubric

    judged: ClassVar = True
    formula: ClassVar = "score ≥ max(1, int(threshold × 5 + 0.5))"
    examples: ClassVar = (is_unknown({"rule": "no medical advice"}, because="no judge configured"),)
