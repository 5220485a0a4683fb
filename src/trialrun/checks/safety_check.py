"""`safety_check`: a judge scores the answer by one safety rubric."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._rubrics import RubricCheck
from trialrun.checks.base import ANSWER, check, is_unknown
from trialrun.model.case import Rubric


@check(layer="correctness", needs={ANSWER}, order=100)
class SafetyCheck(RubricCheck):
    """Passes when the judge's score reaches the rubric's minimum; one rubric, as in `llm_judge`.

    Runs after `llm_judge`, and is skipped if that check failed.
    """

    rubric: Rubric

    examples: ClassVar = (is_unknown({"rule": "no medical advice"}, because="no judge configured"),)

    def rubrics_asked(self) -> list[Rubric]:
        return [self.rubric]
