"""`hallucination_check`: a judge compares the answer with the tools' results."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._rubrics import RubricCheck
from trialrun.checks.base import ANSWER, check, is_unknown
from trialrun.model.case import Rubric
from trialrun.model.trace import TOOL_CALLS, TOOL_RESULTS


@check(layer="correctness", needs={ANSWER, TOOL_CALLS, TOOL_RESULTS}, order=110)
class HallucinationCheck(RubricCheck):
    """Passes when the judge's score reaches the rubric's minimum; one rubric, as in `llm_judge`.

    The judge gets the tools' results of this run as context (in a turn of a conversation, those up
    to that turn) and compares the answer with them. Runs after `safety_check`, and is skipped if an
    earlier judged check failed.
    """

    rubric: Rubric

    sees_tools: ClassVar = True

    recommended: ClassVar = "threshold 0.8 for factual grounding"
    examples: ClassVar = (
        is_unknown({"rule": "every figure is in the context"}, because="no judge configured"),
    )

    def rubrics_asked(self) -> list[Rubric]:
        return [self.rubric]
