"""`llm_judge`: a judge scores the answer by rubrics."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks._rubrics import RubricCheck
from trialrun.checks.base import ANSWER, check, is_unknown
from trialrun.model.case import Rubric


@check(layer="correctness", needs={ANSWER}, order=90)
class LlmJudge(RubricCheck):
    """Passes when the judge's score reaches the minimum of every rubric.

    A rubric has a `rule` and a `threshold` in [0, 1] (default: 0.5); optionally `scale`,
    `few_shot_examples`, `context_file` and `model`. The judge scores 1 to 5. Runs only if no
    correctness check without a judge failed. If no judge is configured, the check is unknown and
    the case an ERROR.
    """

    rubrics: Annotated[list[Rubric], Meta(min_length=1)]

    stricter: ClassVar = {"rubrics": "more"}
    recommended: ClassVar = "threshold 0.8 for a polite refusal, 0.7 for actionable steps"
    examples: ClassVar = (
        is_unknown([{"rule": "polite", "threshold": 0.8}], because="no judge configured"),
    )

    def rubrics_asked(self) -> list[Rubric]:
        return self.rubrics
