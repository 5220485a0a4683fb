"""Whether a sentence states something, reports a failure, or says that something was not done."""

from __future__ import annotations

import re

from trialrun.verification.tables import pattern

LEFT = pattern("left")
UNDONE = pattern("undone")
_PLAN = pattern("plan")
_FAILS = pattern("fails")
_NO_FAILURE = pattern("no_failure")
_SOME_OF = re.compile(r"\b(\d{1,6}) (?:of|out of) (\d{1,6})\b")


def is_plan(sentence: str) -> bool:
    """Whether the sentence plans, supposes, advises or asks."""
    return _PLAN.search(sentence) is not None


def fails(sentence: str) -> bool:
    """Whether the sentence reports a failure; "21 of 22 tests pass" does."""
    some = _SOME_OF.search(sentence)
    if some is not None and int(some.group(1)) < int(some.group(2)):
        return True
    return _FAILS.search(_NO_FAILURE.sub(" ", sentence)) is not None
