"""`any_of`: at least one of these checks passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trialrun.checks._combined import FAIL, PASS, UNKNOWN, Combination, Outcome, decided
from trialrun.checks.base import check, fails, is_unknown, passes

_EITHER = [{"exact_match": "yes"}, {"expected_in_answer": ["of course"]}]


@check(layer="correctness")
class AnyOf(Combination):
    """Fails when none of the parts holds.

    Each part is a block of checks of the same layer, and holds if all of them pass; parts may be
    combinations themselves. A part that holds decides; otherwise one unknown part makes the result
    unknown. The severity is that of the combination: parts have none.
    """

    formula: ClassVar = "∃ part: it holds"
    when_passed: ClassVar = "one of the parts holds"
    examples: ClassVar = (
        passes(_EITHER, answer="Yes, of course."),
        fails(_EITHER, answer="No.", because="exact_match: "),
        is_unknown(
            [{"exact_match": "yes"}, {"regex_match": "(a|aa)+$"}],
            answer="a" * 60 + "!",
            because="regex_match: ",
        ),
    )

    def combined(self, outcomes: Sequence[Outcome]) -> Outcome:
        return decided(outcomes, (PASS, UNKNOWN, FAIL))
