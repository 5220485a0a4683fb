"""`not`: these checks do not all pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trialrun.checks._combined import FAIL, PASS, Combination, Outcome, all_hold
from trialrun.checks.base import check, fails, is_unknown, passes

_OPPOSITE = {PASS: FAIL, FAIL: PASS}


@check(layer="correctness")
class Not(Combination):
    """Fails when the checks in it pass.

    The value is one block of checks of the same layer, which may be a combination. What is unknown
    stays unknown: missing evidence shows nothing, and not its opposite either.
    """

    takes_list: ClassVar = False
    formula: ClassVar = "¬ the block holds"
    when_passed: ClassVar = "the block does not hold"
    examples: ClassVar = (
        passes({"regex_match": "^Sorry"}, answer="You have 30 days."),
        fails({"regex_match": "^Sorry"}, answer="Sorry, no.", because="regex_match: "),
        is_unknown({"regex_match": "(a|aa)+$"}, answer="a" * 60 + "!", because="regex_match: "),
    )

    def combined(self, outcomes: Sequence[Outcome]) -> Outcome:
        held = all_hold(outcomes)
        return Outcome(_OPPOSITE.get(held.status, held.status), held.reasons)
