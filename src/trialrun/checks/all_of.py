"""`all_of`: every one of these checks passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trialrun.checks._combined import Combination, Outcome, all_hold
from trialrun.checks.base import check, fails, is_unknown, passes

_BOTH = [{"expected_in_answer": ["30 days"]}, {"not_in_answer": ["guarantee"]}]


@check(layer="correctness")
class AllOf(Combination):
    """Fails when one of the parts does not hold: for use inside `any_of` and `not`.

    Each part is a block of checks of the same layer. A part that fails decides; otherwise one
    unknown part makes the result unknown. The severity is that of the combination.
    """

    formula: ClassVar = "∀ parts: it holds"
    when_passed: ClassVar = "every part holds"
    examples: ClassVar = (
        passes(_BOTH, answer="You have 30 days."),
        fails(_BOTH, answer="30 days, that is a guarantee.", because="not_in_answer: "),
        is_unknown(
            [{"expected_in_answer": ["a"]}, {"regex_match": "(a|aa)+$"}],
            answer="a" * 60 + "!",
            because="regex_match: ",
        ),
    )

    def combined(self, outcomes: Sequence[Outcome]) -> Outcome:
        return all_hold(outcomes)
