"""Which changes are to be exercised, and what exercised them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.facts import OBLIGING, UNALTERED, Change, Facts, Run, Sort
from trialrun.verification.paths import within
from trialrun.verification.sentences import OTHER
from trialrun.verification.tables import pattern

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

    @property
    def unmet(self) -> bool:
        """Whether nothing exercised the change, and the message does not say so."""
        return self.run is None and not self.perhaps and not self.disclosed


def last_changes(facts: Facts) -> list[Change]:
    """The last change of each file that obliges to something."""
    last: dict[str, Change] = {}
    for change in facts.changes:
        if change.verb == "tree" or change.verb in UNALTERED:
            continue
        last.pop(change.path, None)
        if change.by not in _PUT_BACK:
            last[change.path] = change
            continue
        if "." not in change.path.rpartition("/")[2]:  # a folder
            for path in [path for path in last if within(path, change.path)]:
                del last[path]
    return [one for one in last.values() if one.sort in OBLIGING and one.verb in _OWES]


def duties(session: Session) -> list[Duty]:
    """Every file that is to be exercised."""
    final = session.final
    admits = [one.text for one in final.admits if not one.fails] if final is not None else []
    unread = final is not None and not final.readable
    found = []
    prompts = session.facts.prompts
    reported = max((at for at, text in prompts if _reports(at, text, session.facts)), default=-1)
    for change in last_changes(session.facts):
        run, perhaps = session.index.exercised(change)
        perhaps = perhaps or _tried_by_others(change, session.facts, reported)
        unmet = run is None and not perhaps
        told = unread or not all(OTHER.search(sentence) for sentence in admits)
        found.append(Duty(change, run, perhaps, unmet and told))
    return found


def _tried_by_others(change: Change, facts: Facts, told: int) -> bool:
    """Whether CI, the user, or a command with what was written may have tried the change."""
    for act in facts.acts:
        tries = act.kind == "ci" or (change.sort is Sort.CONFIG and act.kind in ("deploy", "probe"))
        if tries and act.at > change.at and act.ok is not False:
            return True
    if change.at < told:
        return True
    written = [plain for plain in map(_plain, _pieces(change.new)) if len(plain) >= _LONG]
    return bool(written) and any(
        at > change.at and any(one in _plain(text) for one in written) for at, text in facts.scripts
    )


def _reports(at: int, prompt: str, facts: Facts) -> bool:
    """Whether the user, not a program and not in the agent's words, says how it behaves."""
    end = bisect_right(facts.messages, at, key=lambda one: one.at)
    said = _plain("".join(one.text for one in facts.messages[max(0, end - 3) : end]))
    lines = _PUT_IN.sub("", prompt).splitlines()
    own = (line for line in lines if not line.strip() or _plain(line) not in said)
    return _TRIED.search("\n".join(own)) is not None


# <ide_opened_file>The user opened a.py</ide_opened_file>
_PUT_IN = lazy_pattern(r"<([a-z][\w-]*)>.*?</\1>", re.DOTALL)
_TRIED = pattern("tried")
_LONG = 24  # letters and digits of a piece that is told apart


def _pieces(text: str) -> Sequence[str]:
    """The lines of a text, and the strings in them: `"command": "if [ -f x ]; then …"`."""
    return [*text.splitlines(), *_STRING.findall(text)][:200]


_STRING = lazy_pattern(r'"((?:[^"\\]|\\.)*)"')


def _plain(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def open_changes(session: Session) -> list[Change]:
    """Changes that nothing exercised, and that the message does not say so of."""
    return [duty.change for duty in duties(session) if duty.unmet]
