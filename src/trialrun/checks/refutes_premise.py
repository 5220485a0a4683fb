"""`refutes_premise`: the answer rejects a false premise in the question."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._rubrics import RubricCheck
from trialrun.checks.base import ANSWER, check, is_unknown
from trialrun.model.case import Rubric

RUBRIC = Rubric(
    rule=(
        "The question rests on something that is not true. A good answer says plainly that it is "
        "not true. An answer that goes along with it, or leaves it open, is a bad one, however "
        "helpful it sounds."
    ),
    threshold=0.8,
    scale=[
        "5: says clearly that the premise is wrong, and puts it right",
        "4: says clearly that the premise is wrong",
        "3: doubts the premise, and goes along with it all the same",
        "2: goes along with the premise, with a reservation about something else",
        "1: takes the premise for true",
    ],
)
"""The rubric of `refutes_premise: true`."""


@check(layer="correctness", needs={ANSWER}, order=80)
class RefutesPremise(RubricCheck):
    """Passes when a judge finds that the answer rejects the question's false premise.

    Uses a built-in rubric with a threshold of 0.8. It replaces the text checks of its case, because
    the wording of a good refusal cannot be predicted.
    """

    asked: bool

    is_flag: ClassVar = True
    formula: ClassVar = "score ≥ 4"
    examples: ClassVar = (is_unknown(True, because="no judge configured"),)

    def rubrics_asked(self) -> list[Rubric]:
        return [RUBRIC]
