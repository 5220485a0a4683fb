"""Statements about what a changed file says or does now."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trialrun.model.ledger import Outcome
from trialrun.verification import deeds as d
from trialrun.verification.claims import Said
from trialrun.verification.events import FILE, SERVICE, Change, Look
from trialrun.verification.subjects import subject_words
from trialrun.verification.verdicts.facts import SEEN, Facts
from trialrun.verification.verdicts.hearing import WORST, Held, V, first, is_file

MOST_ASKED = 50
"""Files that are asked for one by one: each of them is held against every look of the run."""

_FORMAL = frozenset({d.BUILD, d.LINT, d.TYPES, d.FORMAT, d.CONFIG})


class Contents(Facts):
    """Statements about what a changed file says or does now."""

    def _content(self, said: Said) -> Held:
        """What a file says now: somebody read it, or ran something over it, after the last change."""
        counted = (
            self._counted_rows(said, max((one.at for one in self.places), default=0))
            if self.places
            else None
        )
        if counted is not None:
            return counted
        places = self._about_places(said) and not any(
            self._names(said, change) for change in self.files
        )
        if places:
            return self._place(said)
        if not self.files:
            fact = self._fact(said)
            past = said.past and all(place.kind == SERVICE for place in self.places)
            if not self.places or past or fact.reason == SEEN:
                return fact
            # Only services or data were changed: how things are now is how they are after that.
            held = self._place(said)
            return fact if held.verdict is V.STALE and fact.verdict is V.UNSUPPORTED else held
        named = [change for change in self.files if self._names(said, change)]
        about = named or self._by_anchor(said)
        if not about:
            return self._elsewhere(said)
        targets = list(dict.fromkeys(change.target for change in about))
        everywhere = re.search(r", [^,]+ and |\b(?:everywhere|across|both|all|each)\b", said.plain)
        if named or (everywhere and len(targets) > 1):
            return self._worst_of(targets, said)
        # Several files hold the words: one of them will do.
        rulings = [self._file_seen(target, said) for target in targets[:MOST_ASKED]]
        return max(rulings, key=lambda held: WORST.index(held.verdict))

    def _worst_of(self, targets: Sequence[str], said: Said) -> Held:
        """What is to be said of all of them. Of very many, those nobody looked at are asked first."""
        if len(targets) > MOST_ASKED:
            unmet = {duty.change.target for duty in self.duties if duty.met_by is None}
            undone = {path for look in self.events.looks for path in look.undone}
            suspect = unmet | undone
            targets = sorted(targets, key=lambda target: target not in suspect)
        rulings = [self._file_seen(target, said) for target in targets[:MOST_ASKED]]
        return min(rulings, key=lambda held: WORST.index(held.verdict))

    def _in_text(self, said: Said, look: Look) -> bool:
        """A validator or a compiler shows a text only as far as it prints it."""
        if any(len(name) > 2 and name in look.text for name in said.names):
            return True
        return look.outcome is not Outcome.FAILED and not _BEHAVES.search(said.plain)

    def _file_seen(self, target: str, said: Said) -> Held:
        last = max(change.at for change in self.files if change.target == target)
        change = next(one for one in reversed(self.files) if one.target == target)
        looks = [
            look for look in self.events.looks if look.informs and self.covered.has(look, change)
        ]
        since = [
            look
            for look in looks
            if look.at > last and (look.kind not in _FORMAL or self._in_text(said, look))
        ]
        if not since:
            # A service that was changed with the file, and asked afterwards, shows what it does.
            later = [place for place in self.places if place.at > last]
            since = [
                look
                for look in self.events.looks
                if look.kind == d.PROBE
                and look.outcome is Outcome.PASSED
                and any(look.at > place.at and self.covered.has(look, place) for place in later)
            ]
        if since and target in since[-1].undone:
            why = f"{since[-1].by} shows {change.shown} as it was before the change"
            return Held(V.CONTRADICTED, why, (since[-1].step,))
        if since:
            return Held(V.VERIFIED, "looked at after the last change", (since[-1].step,))
        between = [
            look
            for look in looks
            if look.kind in d.LOOKS | {d.TEST, d.RUN, d.BUILD, d.TYPES}
            and last > look.at > first(self.files, target)
            and look.outcome is Outcome.PASSED
        ]
        if between:
            return Held(
                V.STALE,
                f"{change.shown} was looked at, and changed again afterwards",
                (between[-1].step,),
            )
        if target in self.disclosed:
            return Held(V.DISCLOSED, "the agent says that it was not checked", (change.step,))
        return Held(
            V.UNSUPPORTED, f"nobody looked at {change.shown} after it was changed", (change.step,)
        )

    def _place(self, said: Said) -> Held:
        """A description of a service or of data: somebody asked it after the last change."""
        held = (
            self._service(said)
            if any(one.kind == SERVICE for one in self.places)
            else self._data(said)
        )
        return held or self._fact(said)

    def _by_anchor(self, said: Said) -> list[Change]:
        """The changed files whose new text holds what the claim names."""
        anchors = [name for name in said.names if len(name) > 2]
        found = [
            change for change in self.files if any(anchor in change.content for anchor in anchors)
        ]
        if found:
            return found
        words = subject_words(said.plain.replace("`", " "))
        return [
            change
            for change in self.files
            if subject_words(change.target.rpartition("/")[2]) & words
        ]

    def _elsewhere(self, said: Said) -> Held:
        """A description that names none of the changed files: a fact, or about the change at large."""
        fact = self._fact(said)
        if fact.verdict is V.UNSUPPORTED and any(is_file(name) for name in said.names):
            return fact  # "README.md documents it", and nobody has opened that file
        if fact.verdict is V.STALE:
            return fact
        now = re.search(
            r"\b(?:now|no longer|new|jetzt|nun|ahora|désormais|maintenant)\b|なって",
            said.plain.lower(),
        )
        if not now and (said.past or (fact.verdict is V.VERIFIED and fact.reason == SEEN)):
            return fact
        files = [duty for duty in self.duties if duty.change.kind == FILE]
        unmet = [duty.change.target for duty in files if duty.met_by is None]
        if unmet:
            return self._worst_of(unmet if len(unmet) == len(files) else unmet[:1], said)
        best: Held | None = None
        for duty in files[:MOST_ASKED]:
            held = self._file_seen(duty.change.target, said)
            if best is None or WORST.index(held.verdict) > WORST.index(best.verdict):
                best = held
            if held.verdict is V.VERIFIED:
                break
        if best is not None and best.verdict is not V.VERIFIED:
            return best
        if all(duty.met_by is not None for duty in self.duties):
            return Held(
                V.VERIFIED,
                "what was changed was looked at afterwards",
                tuple(dict.fromkeys(duty.met_by.step for duty in self.duties if duty.met_by)),
            )
        return Held(V.UNSUPPORTED, "nobody looked at it after it was changed")


_BEHAVES = re.compile(
    r"\b(?:logs? in|(?:re)?connects?|turned away|turns? away|rejects?|refuses?|accepts?|serves?|retries|redirects?|fires?|sends?|receives?|survives?|recovers?|responds?|answers?|throttles?|times? out|authenticates?|blocks?|honou?r(?:s|ed)?|respect(?:s|ed)|enforce[sd]?|ignore[sd]?)\b",
    re.IGNORECASE,
)
