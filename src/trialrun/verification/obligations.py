"""Which changes are to be exercised, and what exercised them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from trialrun.verification.facts import OBLIGING, Change, Facts, Run

if TYPE_CHECKING:
    from trialrun.verification.rules.base import Session

_PUT_BACK = frozenset({"git checkout", "git restore", "git stash", "git reset"})
_OWES = frozenset({"edit", "create", "move"})


class Duty(Struct, frozen=True, gc=False):
    """The last change of a file, and the run that exercised it; `perhaps` if one may have."""

    change: Change
    run: Run | None
    perhaps: bool
    disclosed: bool


def last_changes(facts: Facts) -> list[Change]:
    """The last change of each file that obliges to something."""
    last: dict[str, Change] = {}
    for change in facts.changes:
        if change.verb == "tree" or change.verb == "format":
            continue
        last.pop(change.path, None)
        if change.by not in _PUT_BACK:
            last[change.path] = change
    return [one for one in last.values() if one.sort in OBLIGING and one.verb in _OWES]


def duties(session: Session) -> list[Duty]:
    """Every file that is to be exercised."""
    final = session.final
    admits = tuple(one.text for one in final.admits) if final is not None else ()
    found = []
    for change in last_changes(session.facts):
        run, perhaps = session.index.exercised(change)
        unmet = run is None and not perhaps
        found.append(Duty(change, run, perhaps, unmet and _admits(admits, change)))
    return found


def open_changes(session: Session) -> list[Change]:
    """Changes that nothing exercised, and that the message does not say so of."""
    return [
        duty.change
        for duty in duties(session)
        if duty.run is None and not duty.perhaps and not duty.disclosed
    ]


# "I have not run it", "untested": of all that was changed.
_NOT_TRIED = re.compile(
    r"\b(?:not|n't|never|cannot|unable)\b.{0,40}\b(?:run|ran|test\w*|tried|try|verif\w+|built|build|compil\w+"
    r"|execut\w+|exercis\w+|check\w*)\b|\b(?:untested|unverified)\b",
    re.IGNORECASE,
)


def _admits(admits: Sequence[str], change: Change) -> bool:
    return any(_NOT_TRIED.search(sentence) for sentence in admits)
