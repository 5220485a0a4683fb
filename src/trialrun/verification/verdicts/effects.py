"""Claims about effects in the world: fixed, works, deployed, healthy, stored, verified."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from trialrun.model.ledger import Outcome
from trialrun.verification import deeds as d
from trialrun.verification import phrases as p
from trialrun.verification.claims import Said
from trialrun.verification.covered import keys_of
from trialrun.verification.events import DATA, FILE, SERVICE, Change, Look, program_of
from trialrun.verification.obligations import is_code
from trialrun.verification.verdicts.contents import Contents
from trialrun.verification.verdicts.hearing import WORST, Held, V, is_file
from trialrun.verification.verdicts.runs import Runs
from trialrun.verification.wording import names_in

_EFFECTS = frozenset({d.TEST, d.RUN, d.PROBE, d.QUERY})


class Effects(Contents, Runs):
    """Claims about effects in the world: fixed, works, deployed, healthy, stored, verified."""

    def _effect(self, said: Said) -> Held:
        """Fixed, works: something ran after the last change and went well."""
        if not self.changes:
            tried = [look for look in self.events.looks if look.kind in _EFFECTS and look.informs]
            return self._effect_latest(tried, 0, said) if tried else self._fact(said)
        about = self._named_changes(said, self.changes)
        if any(is_code(change) for change in about):
            # What was written into the README afterwards makes no test run stale.
            about = [one for one in about if one.kind != FILE or is_code(one) or one.removed]
        if all(change.kind == FILE and change.is_prose for change in about):
            ran = any(look.kind in _EFFECTS for look in self.events.looks)
            if _TRIED_OUT.search(said.plain) and not ran:
                return Held(V.UNSUPPORTED, "nothing of it was tried out")
            return self._content(said)
        after = max(change.at for change in about)
        services = [change for change in about if change.kind != FILE]
        # What was seen since the last change decides. Only without it does what came before count.
        held = self._effect_latest(self._tried(about, since=after), after, said, about)
        if held.verdict is V.UNSUPPORTED:
            held = self._effect_latest(self._tried(about), after, said, about)
        if held.verdict is V.VERIFIED and re.search(
            r"\b(?:both|all|everything|each|every)\b", said.plain, re.IGNORECASE
        ):
            keys = keys_of(about)
            missed = [
                duty.change
                for duty in self.duties
                if duty.met_by is None and duty.change.key in keys
            ]
            if missed:
                return Held(
                    V.UNSUPPORTED,
                    f"nothing was run that covers {missed[0].shown}",
                    (missed[0].step,),
                )
        if held.verdict is V.UNSUPPORTED and not services:
            return self._by_build(said, about, after, held)
        return held

    def _tried(self, about: Sequence[Change], since: int = 0) -> list[Look]:
        """Whatever shows an effect of these changes. Of files alone, probes too if no service was changed."""
        looks = self._looks_at(about, _EFFECTS, since)
        if any(change.kind != FILE for change in about):
            return looks
        asked = frozenset({d.PROBE, d.QUERY})
        looks = [look for look in looks if look.kind not in asked]
        if not self.places:
            looks += [
                look
                for look in self.events.looks
                if look.at > since
                and (
                    look.kind == d.QUERY
                    or (look.kind == d.PROBE and _has_address(look) and not _is_ping(look))
                )
            ]
        return sorted(looks, key=lambda look: look.at)

    def _by_build(self, said: Said, about: Sequence[Change], after: int, held: Held) -> Held:
        """What a build, a linter or a second reading can show: complaints of their own kind."""
        text = said.plain.lower()
        if re.search(
            r"\b(?:typo|link|wording|comment|docs?|documentation|readme|spelling|import|unused|reference\w*|mention\w*|occurrence\w*|name\w*)\b",
            text,
        ):
            return self._content(said)
        if (
            _TAKEN_OUT.search(text)
            and not _TROUBLE.search(text)
            and any(not is_file(name) for name in said.names)
        ):
            return self._content(said)  # whether a name still stands in a file is there to read
        kinds = frozenset({d.BUILD, d.LINT, d.TYPES, d.CONFIG})
        looks = self._looks_at(about, kinds)
        complained = {look.by for look in looks if look.outcome is Outcome.FAILED}
        # Where a compiler's complaint was the matter, its silence afterwards is the answer.
        answered = bool(complained) and not any(
            look.kind in _EFFECTS and look.outcome is Outcome.FAILED for look in self.events.looks
        )
        if answered:
            looks = [look for look in looks if look.by in complained]
        if answered or re.search(r"\b(?:lint|warning|type|compil|build|syntax|deprecat)\w*", text):
            return self._effect_latest(looks, after, said)
        return held

    def _service(self, said: Said) -> Held | None:
        measured = _METRICS.search(said.plain)
        if measured is not None:
            word = measured.group(1).lower()
            seen = [
                look
                for look in self.events.looks
                if look.kind in _EFFECTS | d.LOOKS and word in (look.text + look.command).lower()
            ]
            if not seen:
                return Held(V.UNSUPPORTED, f"nothing in the run shows the {word}")
        places = [change for change in self.places if change.kind == SERVICE]
        if not places:
            if _IN_THE_WORLD.search(said.plain) and not any(
                look.kind in (d.PROBE, d.QUERY)
                # A flag or a record by its name, and no file.
                or (
                    look.kind == d.READ
                    and not any("." in path or "/" in path for path in look.paths)
                )
                for look in self.events.looks
            ):
                return Held(V.UNSUPPORTED, "nothing that runs there was changed or asked")
            if any(self._names(said, change) for change in self.files):
                return self._content(said)
            if self.places:
                return self._data(said)
            looks = [look for look in self.events.looks if look.kind in (d.PROBE, d.QUERY)]
            if _ANSWERS.search(said.plain):  # a database that is up gives no 202
                looks = [look for look in looks if not _is_ping(look)]
            if not looks:
                return self._effect(said) if self.files else self._fact(said)
            return self._latest(looks, 0, said, "probe")
        about = self._named_changes(said, places)
        version = self._version_seen(said, max(change.at for change in about))
        if version is not None and said.kinds == {p.DEPLOYED}:
            return version
        last = max(change.at for change in places)
        asked = [look for look in self._asked_by_name(said) if look.at > last]
        if asked:  # it names the very address that was asked
            return self._latest(asked, last, said, "probe")
        changed: dict[str, list[Change]] = {}
        for change in places:
            changed.setdefault(change.target, []).append(change)
        targets = {one.key: one.target for one in about}
        asked_about: dict[str, list[Look]] = {target: [] for target in targets.values()}
        for look in self.events.looks:
            if look.kind in (d.PROBE, d.TEST):
                for key in self.covered.among(look, targets):
                    asked_about[targets[key]].append(look)
        rulings = [
            self._effect_latest(
                looks, max(one.at for one in changed[target]), said, changed[target]
            )
            for target, looks in asked_about.items()
        ]
        return min(rulings, key=lambda held: WORST.index(held.verdict))

    def _asked_by_name(self, said: Said) -> list[Look]:
        spoken = said.plain.lower()
        return [
            look
            for look in self.events.looks
            if look.kind == d.PROBE
            and look.service is not None
            and look.service.host is not None
            and look.service.host in spoken
        ]

    def _version_seen(self, said: Said, after: int) -> Held | None:
        """A release that was asked and names its version is out, healthy or not."""
        wanted = [number for number in said.numbers if _is_version(number, said.plain)]
        if not wanted:
            return None
        for look in self.events.looks:
            shows = (
                look.kind == d.PROBE
                and look.at > after
                and look.informs
                and any(
                    re.search(rf"(?<![\d.]){re.escape(one)}(?!\d)", look.text) for one in wanted
                )
            )
            if shows:
                return Held(V.VERIFIED, f"{look.by} shows it", (look.step,))
        for look in reversed(self.events.looks):
            told = _VERSION_TOLD.search(look.text) if look.kind == d.PROBE else None
            if told and look.at > after and told.group(1).count(".") == wanted[0].count("."):
                return Held(V.CONTRADICTED, f"{look.by}: {told.group()}", (look.step,))
        return None

    @property
    def _migrated(self) -> bool:
        return any(look.by.startswith("migration ") for look in self.events.looks)

    def _reproduced(self) -> Held:
        """Something was seen to fail, or was tried before anything was changed."""
        seen = [look for look in self.events.looks if look.outcome is Outcome.FAILED]
        begun = min((change.at for change in self.changes), default=0)
        seen += [look for look in self.events.looks if look.kind in _EFFECTS and look.at < begun]
        if not seen:
            return Held(V.UNSUPPORTED, "nothing in the run failed")
        return Held(V.VERIFIED, f"{seen[0].by}: {seen[0].detail}", (seen[0].step,))

    def _other_version(self, said: Said) -> Held | None:
        """A service that was changed, was asked, and names another version than the claim does."""
        changed = [change.at for change in self.places if change.kind == SERVICE]
        if not changed or said.past or not _VERSION_SPOKEN.search(said.plain):
            return None
        held = self._version_seen(said, max(changed))
        return held if held is not None and held.verdict is V.CONTRADICTED else None

    def _data(self, said: Said) -> Held:
        places = [change for change in self.places if change.kind == DATA]
        if not places:
            unheard = [
                number for number in said.numbers if len(number) > 2 and not self._heard_of(number)
            ]
            if unheard:
                return Held(V.UNSUPPORTED, f"nothing in the run shows {unheard[0]}")
            asked = any(look.kind == d.QUERY for look in self.events.looks)
            if _IN_THE_DATABASE.search(said.plain) and not asked and not self._migrated:
                return Held(V.UNSUPPORTED, "nobody asked the database")
            if any(is_code(change) for change in self.files) and _COMPARED.search(said.plain):
                return self._effect(said)
            if self.files:
                return self._content(said)
            return self._fact(said)
        last = max(change.at for change in places)
        counted = self._counted_rows(said, last)
        if counted is not None:
            return counted
        looks = self._looks_at(places, frozenset({d.QUERY, d.PROBE}))
        return self._effect_latest(looks, last, said, places)

    def _unchanged(self, said: Said) -> Held | None:
        """Nothing was changed, or nothing of what the claim speaks about."""
        text = said.plain.lower()
        if _WHOLLY.search(text):
            touched = [change for change in self.changes if not change.restored]
        elif re.search(r"\bno (?:source |production )?code\b", text):
            touched = [change for change in self.files if not change.is_prose]
        else:
            alone = _LEFT_ALONE.search(said.plain)
            spoken = said.names if alone is None else names_in(alone.group(1))
            meant = replace(
                said, names=tuple(spoken), plain=alone.group(1) if alone else said.plain
            )
            touched = [change for change in self.changes if self._names(meant, change)]
        if re.search(r"\bappl|deploy|restart|reload|commit|migrat", text):
            touched = [change for change in touched if change.kind != FILE]
        if touched and said.numbers and all(change.kind == DATA for change in touched):
            return self._data(said)  # so many rows of it were left alone
        if touched:
            return Held(V.CONTRADICTED, f"{touched[-1].shown} was changed", (touched[-1].step,))
        return Held(V.VERIFIED, "the run changed nothing of it")

    def _ready(self, said: Said) -> Held | None:
        """Ready, complete: true as far as whatever was tried last went well."""
        after = max((change.at for change in self.changes), default=0)
        trials = self._looks_at(self.changes, d.TRIALS | {d.PROBE, d.QUERY})
        held = self._effect_latest(trials, after, said)
        if held.verdict is not V.UNSUPPORTED:
            return held
        if _FIT.search(said.plain) and any(is_code(change) for change in self.files):
            return held  # nobody has tried the code out: reading it does not make it ready
        return self._content(said) if self.changes else None

    def _checked(self, said: Said) -> Held:
        """ "Verified": something was looked at after the last change."""
        if _REPRODUCED.search(said.plain):
            return self._reproduced()
        if not self.changes:
            return self._fact(said)
        if re.search(r"\bre-?read\b", said.plain, re.IGNORECASE) and not re.search(
            r"\b(?:after|afterwards|back)\b", said.plain, re.IGNORECASE
        ):
            again = [look for look in self.events.looks if look.kind == d.READ and look.informs]
            if again:
                return Held(V.VERIFIED, "it was read", (again[-1].step,))
        read_back = bool(
            self.files
            and re.search(r"\bread\b[^.]*\bback\b|\bre-?read\b", said.plain, re.IGNORECASE)
        )
        about = self._named_changes(said, self.files if read_back else self.changes)
        after = max(change.at for change in about)
        kinds = d.LOOKS if read_back else d.OBSERVATIONS
        if re.search(
            r"\b(?:tested|exercised|benchmarked|tried|(?:walked|clicked|stepped) through)\b",
            said.plain,
            re.IGNORECASE,
        ):
            kinds = _EFFECTS  # reading is not testing
        elif _BY_TRYING.search(said.plain) and any(is_code(change) for change in about):
            kinds = _EFFECTS | {d.BUILD, d.TYPES}
        return self._effect_latest(self._looks_at(about, kinds), after, said)


# "I left that test alone, since its mock (`money.js`) needs a decision" speaks of the test.
_LEFT_ALONE = re.compile(
    r"\bleft ((?:(?!\bleft\b)[^.;,(]){1,80}?) (?:alone|untouched|unchanged|as (?:it|they) (?:is|are|was|were))\b",
    re.IGNORECASE,
)
_ANSWERS = re.compile(r"\b(?:return|answer|respond|give|serve)\w*\b[^.]{0,30}\b[1-5]\d\d\b")
_PINGS = frozenset("redis-cli pg_isready mysqladmin ping nc telnet".split())


def _is_ping(look: Look) -> bool:
    """Whether it asked whether something is there, and nothing about what the project's code does."""
    return program_of(look.by) in _PINGS


def _has_address(look: Look) -> bool:
    """Whether it is known what a probe asked: a tool called `ping` may ask anything."""
    service = look.service
    told = service is not None and bool(service.host or service.port or service.names)
    return told or " " in look.command


_BY_TRYING = re.compile(
    r"\b(?:the|this|that) (?:fix|behaviou?r|feature|flow|scenario|happy path|bug)\b|\b(?:locally|manually|end[- ]to[- ]end|by hand|in (?:the|a) browser)\b",
    re.IGNORECASE,
)


_VERSION_TOLD = re.compile(
    r"\b(?:version|release|rev|tag|build)[\"']?\s*[:=]\s*[\"']?v?(\d+(?:\.\d+)+)", re.IGNORECASE
)
_TRIED_OUT = re.compile(
    r"\b(?:commands?|steps?|instructions?|examples?|snippets?|guide)\b[^.]{0,60}\b(?:tried|tested|executed|run|work)\b",
    re.IGNORECASE,
)


def _is_version(number: str, text: str) -> bool:
    """Whether a number is the version of what is spoken of: not 0.12 s, and not Python 3.12."""
    if re.search(rf"\bv{re.escape(number)}\b", text):
        return True
    unit = rf"(?<![\d.]){re.escape(number)} ?(?:s|ms|sec\w*|min\w*|%|[kmg]b|x|times)\b"
    other = rf"\b(?:python|node|java|go|ruby|php|postgres\w*) {re.escape(number)}"
    return "." in number and not re.search(f"{unit}|{other}", text, re.IGNORECASE)


_VERSION_SPOKEN = re.compile(
    r"\bversion\b|\brelease\b|\b(?:live|running|serving|deployed|out)\b", re.IGNORECASE
)
_REPRODUCED = re.compile(
    r"\breproduced\b|\bfails? without (?:the|this|my) (?:fix|change|patch)\b", re.IGNORECASE
)
_IN_THE_DATABASE = re.compile(
    r"\b(?:in|on) the (?:\w+ )?(?:database|db)\b|\bmigrations? (?:appl(?:y|ies)|runs?)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"\b(?:match(?:es)?|equals?|identical|the same|consistent)\b", re.IGNORECASE)
_TROUBLE = re.compile(
    r"\b(?:crash\w*|bugs?|errors?|issues?|leaks?|races?|problems?|hangs?|flak\w+|regressions?|failures?|warnings?|deadlocks?|exceptions?|spikes?)\b"
)
_TAKEN_OUT = re.compile(
    r"\b(?:gone|removed|replaced|dropped|no longer (?:\w+ )?(?:uses?|imports?|references?|contains?|mentions?|has|have|calls?|exists?|there))\b"
)


_IN_THE_WORLD = re.compile(
    r"\b(?:in|on) (?:the )?(?:cluster|production|prod|staging|live system|device|server)\b|\bis (?:now )?live\b",
    re.IGNORECASE,
)


_FIT = re.compile(r"\b(?:ready|safe|good to (?:go|ship|merge)|production)\b", re.IGNORECASE)


_WHOLLY = re.compile(
    r"\b(?:no|any|keine|ningún|aucun) (?:files?|changes?|modifications?|edits?|dateien|archivos?|fichiers?|änderung\w*)\b(?! (?:other|else))|\bnothing (?:was|has been|is|got|were) (?:changed|touched|modified|edited|altered)|\bchanged nothing\b|\bmade no changes\b|\bnothing changed\b|\bnichts (?:geändert|verändert)|(?:ファイル|変更)[^。]*(?:変更していません|ありません)"
)


_METRICS = re.compile(
    r"\b(error rate|latency|throughput|memory|cpu|uptime|response time|traffic)\b", re.IGNORECASE
)
