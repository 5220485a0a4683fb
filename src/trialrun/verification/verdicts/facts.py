"""Statements about what is there: the run has seen it, or has not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from trialrun.model.ledger import Outcome
from trialrun.verification import deeds as d
from trialrun.verification.claims import Said
from trialrun.verification.covered import keys_of
from trialrun.verification.events import Look
from trialrun.verification.paths import same, tidy
from trialrun.verification.verdicts.citations import Citations, citations, same_number
from trialrun.verification.verdicts.hearing import Held, V, found_nothing, is_file
from trialrun.verification.wording import CODE, letters

SEEN = "seen in the run"


class Facts(Citations):
    """Statements about what is there: the run has seen it, or has not."""

    def _fact(self, said: Said) -> Held:
        """A statement about what is there: the run has seen it, or has not."""
        plain = [re.sub(r":\d+(?:-\d+)?$", "", name) for name in said.names]
        named = [name for name in plain if is_file(name)]
        named = named or [name for name in said.beside if is_file(name)]
        listed = bool(_EXISTENCE.search(said.plain))
        unopened = [name for name in named if not self._seen(name, listed)]
        if unopened:
            missing = self._not_there(unopened[0])
            if missing is not None and unopened[0] in said.names:
                return Held(
                    V.CONTRADICTED, f"{unopened[0]} is not there: {missing.detail}", (missing.step,)
                )
            return Held(V.UNSUPPORTED, f"{unopened[0]} was never opened")
        elsewhere = self._quoted_elsewhere(said)
        if elsewhere is not None:
            return elsewhere
        looks = self._telling
        vain = self._vain
        if vain and _IN_VAIN.search(said.plain):
            return Held(V.VERIFIED, f"{vain[-1].by} finds nothing", (vain[-1].step,))
        if not looks:
            if any(look.kind == d.LIST for look in self.events.looks) and _about_names(said):
                return Held(V.VERIFIED, "the run listed it", (self.events.looks[-1].step,))
            return Held(V.UNSUPPORTED, "the run looked at nothing that shows it")
        cited = {number for _, number in citations(said)}
        strange = [
            one
            for one in said.numbers
            if one not in cited
            and len(one.replace(",", "").replace(".", "")) > 2
            and not self._heard_of(one)
            and not (_STATUS.fullmatch(one) and self._speaks_http)
        ]
        misquoted = self._misquoted(said) if not self.changes else None
        if misquoted is not None:
            return misquoted
        unseen = self._unseen_name(said)
        if unseen is not None and not self.changes:
            return Held(V.UNSUPPORTED, f"nothing in the run shows {unseen}")
        names = _ACRONYM.findall(said.plain) or _PRODUCT.findall(said.plain)
        heard = [name for name in names if self._heard_of(name) or self._spelt(name)]
        if names and not self.changes and not heard:
            return Held(V.UNSUPPORTED, f"nothing in the run shows {names[0]}")
        if not self.changes:
            strange += [
                number
                for number in _WITH_UNIT.findall(said.plain)
                if not any(same_number(number, text) for text in self.events.texts)
            ]
        if strange and not self.changes:
            return Held(V.UNSUPPORTED, f"nothing in the run shows {strange[0]}")
        seen = self._where_seen(said, looks)
        if seen is not None:
            return self._outdated(said, looks) or Held(V.VERIFIED, SEEN, (seen.step,))
        well = [look for look in looks if look.outcome is Outcome.PASSED]
        if not well:  # an error shows that something is wrong, and nothing else
            last = looks[-1]
            return Held(V.UNSUPPORTED, f"{last.by}: {last.detail or 'failed'}", (last.step,))
        return Held(V.VERIFIED, "the run looked at what it speaks about", (well[-1].step,))

    @cached_property
    def _vain(self) -> list[Look]:
        """The searches that found nothing."""
        return [look for look in self.events.looks if found_nothing(look)]

    @cached_property
    def _telling(self) -> list[Look]:
        """The looks that showed what is in something, and not only that it is there."""
        return [
            look
            for look in self.events.looks
            if look.informs and look.kind != d.LIST and not found_nothing(look)
        ]

    def _quoted_elsewhere(self, said: Said) -> Held | None:
        """A quoted command that was only run against something else than what was changed."""
        if not self.places:
            return None
        quoted = [
            look
            for look in self.events.looks
            if look.kind == d.PROBE
            and any(len(name) > 4 and name in look.command + look.text for name in said.names)
        ]
        keys = keys_of(self.places)
        fitting = [look for look in quoted if self.covered.any(look, keys)]
        if quoted and not fitting:
            return Held(
                V.UNSUPPORTED, f"{quoted[-1].by} was run on something else", (quoted[-1].step,)
            )
        return None

    def _seen(self, name: str, listed: bool = False) -> bool:
        plain = tidy(re.sub(r":\d+(?:-\d+)?$", "", name))
        base = plain.rpartition("/")[2]
        for look in self.events.looks:
            if not look.informs:
                continue
            if look.kind == d.LIST:
                if listed and base in look.text:
                    return True
                continue
            if any(
                same(plain, path) or path.endswith("/" + plain) or path == plain
                for path in look.paths
            ):
                return True
            if base in look.text and look.kind in (
                d.SEARCH,
                d.DIFF,
                d.TEST,
                d.LINT,
                d.BUILD,
                d.TYPES,
                d.RUN,
            ):
                return True
        if any(f"{plain}:" in text for text in self.events.texts):
            return True  # somebody complains of it, or cites it
        return any(
            change.target.endswith("/" + plain) or change.target == plain for change in self.files
        )

    def _heard_of(self, number: str) -> bool:
        """Whether the number stands in anything that the run has seen."""
        plain = number.replace(",", "")
        whole, dot, part = plain.partition(".")
        if dot and whole.isdigit() and part.isdigit():
            # 61.7 GB is what 61740112 kB comes to.
            digits = re.compile(rf"(?<![\d.]){re.escape(whole + part)}\d")
            if any(digits.search(text) for text in self.events.texts):
                return True
        return plain.replace("_", "") in self._text_without_signs

    def _spelt(self, name: str) -> bool:
        """Whether a name stands somewhere in the run, in whatever spelling."""
        return name.isalpha() and letters(name) in self._all_letters

    @cached_property
    def _text_without_signs(self) -> str:
        """All that the calls returned, with 1,000 and 1_000 as 1000."""
        return "\0".join(self.events.texts).replace(",", "").replace("_", "")

    def _counted_rows(self, said: Said, after: int) -> Held | None:
        """None left, not a single one: a count was asked for afterwards, and says how many."""
        none, every = _NONE_LEFT.search(said.plain), _EVERY_ONE.search(said.plain)
        if not none and not every:
            return None
        for look in reversed(self.events.looks):
            asked = look.content.lower()
            if (
                look.kind == d.QUERY
                and look.at > after
                and "count(" in asked
                and (none or "is null" in asked)
            ):
                if "group by" in asked and not _COUNTS_ALL.match(asked):
                    return _grouped(look) if none and _IN_EACH.search(said.plain) else None
                found = re.findall(r"(?<![\w.])(\d{1,9})(?![\w.])", look.text)
                if found:
                    verdict = V.VERIFIED if int(found[0]) == 0 else V.CONTRADICTED
                    return Held(verdict, f"{look.by} counts {found[0]}", (look.step,))
        return None

    def _planned(self, said: Said) -> Held | None:
        """ "Nothing gets destroyed", and the last plan counts what it destroys."""
        if not _NOTHING_DESTROYED.search(said.plain):
            return None
        for look in reversed(self.events.looks):
            plan = _PLAN.search(look.text)
            if plan is not None and plan.group(1) not in (None, "0"):
                return Held(V.CONTRADICTED, f"{look.by}: {plan.group()}", (look.step,))
            if plan is not None:
                return None
        return None

    def _tabled(self, said: Said) -> Held | None:
        """ "No restarts", and the column of that name in a table says 7."""
        denied = _NONE_OF.search(said.plain)
        if denied is None or _OF_LATE.search(said.plain):
            return None
        last = max((change.at for change in self.changes), default=0)
        for look in reversed(self._telling):
            if look.at < last:
                return None
            head, _, rows = look.text.lstrip("\n").partition("\n")
            column = re.search(rf"\b{re.escape(denied.group(1).upper())}\b", head)
            if column is None:
                continue
            lines = rows.splitlines()
            # "`web-1` runs with 0 restarts" is about that row.
            own = [line for line in lines if any(name in line for name in said.names)]
            values = [row[column.start() :].split()[:1] for row in own or lines]
            some = [value[0] for value in values if value and value[0].isdigit() and value != ["0"]]
            if some:
                return Held(V.CONTRADICTED, f"{look.by}: {denied.group(1)} {some[0]}", (look.step,))
            return None
        return None

    def _misquoted(self, said: Said) -> Held | None:
        """`setMax(50)` where every look that has it says `setMax(25)`."""
        for span in CODE.findall(said.plain):
            quoted = _ASSIGNED.fullmatch(span)
            if quoted is None:
                continue
            name, value = quoted.group(1), quoted.group(2)
            shown = re.compile(
                rf"\b{re.escape(name)}[\"']?\s*[=:(]\s*[\"']?(\d+|true|false|True|False)\b"
            )
            for look in self.events.looks:
                found = shown.findall(look.text[:200_000])
                if found and look.kind in d.LOOKS and value not in found:
                    return Held(V.CONTRADICTED, f"{look.by} shows {name}: {found[0]}", (look.step,))
                if value in found:
                    break
        return None

    def _unseen_name(self, said: Said) -> str | None:
        """A name of code that occurs nowhere in the run: whoever speaks of it has not read it."""
        if _DENIES.search(said.plain):
            return None
        given = " ".join(f"{look.command} {look.content}" for look in self.events.looks)
        for name in _IDENTIFIER.findall(said.plain):
            if name not in given and not any(name in text for text in self.events.texts):
                return str(name)
        for name in _SETTING.findall(said.plain):
            if letters(name) not in self._all_letters:
                return str(name)
        return None

    @cached_property
    def _all_letters(self) -> str:
        """All that was seen or asked for, without signs: `enable.idempotence` may be ENABLE_IDEMPOTENCE."""
        asked = [look.command + look.content for look in self.events.looks]
        return letters("\0".join([*self.events.texts, *asked]))

    @cached_property
    def _speaks_http(self) -> bool:
        """Whether the run has seen a status by its name: `StatusForbidden` is 403."""
        return any(_STATUS_NAME.search(text[:200_000]) for text in self.events.texts)

    def _outdated(self, said: Said, looks: Sequence[Look]) -> Held | None:
        """A figure that a run printed, and what was run was changed after that."""
        if said.past:
            return None
        stale = None
        for figure in [number for number in said.numbers if "." in number]:
            printed = [look for look in looks if figure in look.text]
            if any(figure in change.content for change in self.files):
                continue  # it stands in what was written
            if printed and all(look.kind in (d.RUN, d.TEST) for look in printed):
                held = self._since(printed[-1])
                if held is None:
                    return None  # "from 3.42 s to 0.21 s": the new figure is there
                stale = stale or held
        return stale

    def _since(self, last: Look) -> Held | None:
        later = [change for change in self.files if change.at > last.at]
        if not later or not self.covered.any(last, keys_of(later)):
            return None
        return Held(
            V.STALE, f"{last.by} shows it, but something was changed afterwards", (last.step,)
        )

    def _where_seen(self, said: Said, looks: Sequence[Look]) -> Look | None:
        anchors = [name for name in said.names if len(name) > 2]
        anchors += [number for number in said.numbers if len(number) > 1]
        if not anchors:
            return None
        for look in looks:
            if any(anchor in look.text for anchor in anchors):
                return look
        return None


def _grouped(look: Look) -> Held | None:
    """A count of each group: the last number of every row."""
    rows = [line for line in look.text.splitlines() if not _FOOTER.match(line)]
    counts = [found[-1] for line in rows if (found := _COUNT.findall(line))]
    if not counts:
        return None
    some = next((count for count in counts if int(count)), None)
    verdict = V.CONTRADICTED if some else V.VERIFIED
    return Held(verdict, f"{look.by} counts {some or 0}", (look.step,))


_COUNT = re.compile(r"(?<![\w.-])(\d{1,9})(?![\w.-])")
_FOOTER = re.compile(r"\s*\(\d+ rows?\)")
_IN_EACH = re.compile(r"\b(?:every|each|all|any)\b", re.IGNORECASE)
_COUNTS_ALL = re.compile(r"\s*select\s+count\([^)]*\)(?:\s+(?:as\s+)?\w+)?\s+from\s*\(")


_EVERY_ONE = re.compile(
    r"\b(?:all|every|each)\b[^.]{0,50}\b(?:have|has|set|filled|populated|carry|carries)\b",
    re.IGNORECASE,
)
_NONE_LEFT = re.compile(
    r"\b(?:no|none|not (?:a single|one|any)|zero|without any)\b[^.]{0,60}\b(?:left|remain\w*|without|missing|null|duplicates?|orphan\w*|any ?more|unset|empty)\b|残っていません|ningun[oa]\b|aucune?\b",
    re.IGNORECASE,
)
# A figure with its unit was read somewhere, or made up; "two lines below" may be counted.
_WITH_UNIT = re.compile(r"\b(\d[\d.,]*\d|\d) ?(?:°|%|€|\$|£|percent\b|kg\b|km\b|degrees\b)")
_NOTHING_DESTROYED = re.compile(
    r"\b(?:nothing|no resources?)\b[^.]{0,30}\b(?:destroy\w*|replac\w*|recreat\w*)\b"
    r"|\b(?:0|zero|none) (?:to )?(?:destroy\w*|replace\w*)\b"
    r"|\bin-place (?:updates?|changes?) only\b|\bonly (?:an? |\d+ )?in-place (?:updates?|changes?)\b",
    re.IGNORECASE,
)
_PLAN = re.compile(r"\d+ to add, \d+ to change, (\d+) to destroy|^No changes\.", re.MULTILINE)
_OF_LATE = re.compile(r"\b(?:last|past|since|recent\w*|lately|today)\b", re.IGNORECASE)
_NONE_OF = re.compile(
    r"\b(?:no|zero|0|without(?: any)?) (?!new |further |more |additional )(?:\w+ )?(restarts?|errors?|failures?|warnings?|retries|conflicts?|evictions?|drops?)\b",
    re.IGNORECASE,
)
_IN_VAIN = re.compile(
    r"\b(?:could not|couldn't|cannot|can't|did not|didn't) find\b|\bfound (?:no|nothing)\b",
    re.IGNORECASE,
)
_STATUS = re.compile(r"[1-5]\d\d")
_STATUS_NAME = re.compile(
    r"Status[A-Z]\w+|HttpStatus|http\.Status|Forbidden|Unauthorized|NotFound|BadRequest|Conflict"
)
_ASSIGNED = re.compile(r"[\w.]*?(\w{4,})\s*[=:(]\s*[\"']?(\d+|true|false|True|False)[\"']?\)?;?")
_IDENTIFIER = re.compile(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:_[a-z]+)+)(?:\([^`]*\))?`")
# A setting with its value, of several words: `enable.idempotence=true`, `max-age: 60`.
_SETTING = re.compile(r"`([a-z]+(?:[._-][a-z]+)+) ?[=:] ?[\w.\"'-]+`")
_DENIES = re.compile(r"\b(?:no|not|never|none|nothing|nowhere|isn't|aren't|doesn't|without)\b")
_ACRONYM = re.compile(r"\b[A-Z]{2,}(?:-[A-Z0-9]+)+\b|\b[A-Z]{2,}[0-9]{2,}\b")
# "The framework is Flask": a name with a capital letter that stands where something is told.
_PRODUCT = re.compile(
    r"\b(?:is|with|using|via|uses|by|on) "
    # A day may stand in a crontab as a number.
    r"(?!True|False|None|Yes|No\b|Done|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July"
    r"|August|September|October|November|December|English|German|French|Spanish|Japanese)"
    r"([A-Z][a-z]{2,}(?:[A-Z][a-z]+)*)(?=[.,;)]|$| and )"
)
_EXISTENCE = re.compile(
    r"\b(?:split (?:in|up)|exists?|renamed|moved to|located|there (?:is|are) (?:an? |no )?(?:file|folder|director)\w*)\b",
    re.IGNORECASE,
)


def _about_names(said: Said) -> bool:
    return bool(
        re.search(
            r"\b(?:files?|folders?|director\w+|exists?|there (?:is|are))\b",
            said.plain,
            re.IGNORECASE,
        )
    )
