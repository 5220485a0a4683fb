"""`refutes_premise`: the answer rejects a false premise in the question."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks.base import ANSWER, Check, check, is_unknown


@check(layer="correctness", needs={ANSWER})
class RefutesPremise(Check):
    """Passes when a judge finds that the answer rejects the question's false premise.

    A built-in rubric with a threshold of 0.8. It replaces the text checks of its case: the words of
    a good refusal cannot be foreseen.
    """

    asked: bool

    judged: ClassVar = True
    is_flag: ClassVar = True
    formula: ClassVar = "score ≥ 4"
    examples: ClassVar = (is_unknown(True, because="no judge configured"),)
