"""Claims that can be looked up word by word: a line by its number, what is gone, an edit that failed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from trialrun.model.ledger import Outcome
from trialrun.verification import deeds as d
from trialrun.verification import phrases as p
from trialrun.verification.claims import Said
from trialrun.verification.events import Look
from trialrun.verification.paths import tidy
from trialrun.verification.programs import is_program
from trialrun.verification.verdicts.hearing import Hearing, Held, V, found_nothing, is_file
from trialrun.verification.wording import letters


class Citations(Hearing):
    """Claims that can be looked up word by word: a line by its number, what is gone, an edit that failed."""

    def _refused_edit(self, said: Said) -> Held | None:
        """It says what a file is now, and the only edits of that file did not take place."""
        if not said.kinds <= {p.CONTENT, p.WORKS, p.FIXED, p.READY} or not _NOW.search(
            said.plain.lower()
        ):
            return None
        if (
            self.events.failed
            and not self.changes
            and re.search(r"\bnow\b|\bcomplete\b", said.plain, re.IGNORECASE)
        ):
            return Held(V.CONTRADICTED, "the only edit failed")
        names = [letters(name) for name in said.names if not is_file(name)]
        for path, text, plain, tried_again in self._refused_texts:
            base = path.rpartition("/")[2]
            done = "" if tried_again else self._written.get(path, "")
            if done and any(len(one) > 7 and one in plain and one not in done for one in names):
                # It names what only the edit that failed would have put there.
                return Held(V.CONTRADICTED, f"the edit of {base} failed")
            applied = re.search(
                r"\b(?:patch|change|edit|fix|diff)\b[^.]{0,30}\bapplied\b",
                said.plain,
                re.IGNORECASE,
            )
            if applied and not self.files:
                return Held(V.CONTRADICTED, f"it could not be applied to {base}")
            if any(tidy(name).rpartition("/")[2] == base for name in said.names) and not (
                self._edited(path)
            ):
                return Held(V.CONTRADICTED, f"the edit of {base} failed")
            named = any(len(one) > 2 and one in plain for one in names)
            named = named or any(len(one) > 1 and one in text for one in said.numbers)
            if named and _EVERYWHERE.search(said.plain) and not self._edited(path):
                return Held(V.CONTRADICTED, f"the edit of {base} failed")
        return None

    @cached_property
    def _refused_texts(self) -> list[tuple[str, str, str, bool]]:
        """The edits that did not take place: the file, the text, its letters; a later one did."""
        latest = self.events.latest
        return [
            (one.path, one.text, letters(one.text), latest.get(one.path, 0) > one.at)
            for one in self.events.failed
        ]

    @cached_property
    def _written(self) -> dict[str, str]:
        """The letters of all that was put into each file of which an edit failed."""
        failed = {one.path for one in self.events.failed}
        found: dict[str, str] = {}
        for change in self.files:
            if change.target in failed:
                found[change.target] = f"{found.get(change.target, '')}\0{letters(change.content)}"
        return found

    def _edited(self, path: str) -> bool:
        return any(one.target == path for one in self.files)

    def _cited_line(self, said: Said) -> Held | None:
        """A line that is cited by its number, where the run has seen that line."""
        for name, number in citations(said):
            line = self._line(name, number)
            if line is None:
                if self._beyond(name, number):
                    return Held(V.UNSUPPORTED, f"line {number} of {name} was not read")
                continue
            quoted = [
                one
                for one in said.names
                if len(one) > 3
                and not is_file(re.sub(r":\d+$", "", one))
                and one != name
                and not is_program(one.split()[0])
            ]
            plain = " ".join(line.split())
            for text in quoted:
                wanted = " ".join(text.split()).rstrip(",;")
                if wanted in plain or plain.rstrip(",;") in wanted or _same_words(wanted, plain):
                    continue
                if re.search(r"[\s=]|\(\S+\)", wanted):
                    return Held(V.CONTRADICTED, f"line {number} of {name} says: {plain[:80]}")
            spoken = [one for one in said.numbers if one != number and one not in name]
            if (
                spoken
                and not quoted
                and re.search(r"\d", plain)
                and not any(same_number(one, plain) for one in spoken)
            ):
                return Held(V.CONTRADICTED, f"line {number} of {name} says: {plain[:80]}")
        return None

    def _beyond(self, name: str, number: str) -> bool:
        """Whether the file was read by numbered lines, and never as far as that one."""
        last = self._last_lines.get(tidy(name).rpartition("/")[2])
        return last is not None and int(number) > last

    @cached_property
    def _last_lines(self) -> dict[str, int]:
        """Of each file that was read by numbered lines, the last number that was shown."""
        found: dict[str, int] = {}
        for look in self.events.looks:
            if look.kind != d.READ or not look.informs:
                continue
            shown = [
                int(line.group(1))
                for text in look.text.splitlines()
                if (line := _NUMBERED_LINE.match(text))
            ]
            for base in _bases(look) if shown else ():
                found[base] = max(found.get(base, 0), *shown)
        return found

    def _line(self, name: str, number: str) -> str | None:
        """The text of a numbered line of a file, as a read or a search printed it."""
        return self._lines.get((tidy(name).rpartition("/")[2], number))

    @cached_property
    def _lines(self) -> dict[tuple[str, str], str]:
        """Lines by file and number: of several looks since the file was changed, the last counts."""
        changed: dict[str, int] = {}
        for change in self.files:
            base = change.target.rpartition("/")[2]
            changed[base] = max(changed.get(base, 0), change.at)
        found: dict[tuple[str, str], str] = {}
        for look in reversed(self.events.looks):
            if look.kind not in d.LOOKS or not look.informs:
                continue
            bases = [base for base in _bases(look) if look.at >= changed.get(base, 0)]
            for line in look.text.splitlines():
                hit = _HIT.match(line)
                if hit:
                    base = hit.group(1).rpartition("/")[2]
                    if look.at >= changed.get(base, 0):
                        found.setdefault((base, hit.group(2)), hit.group(3))
                numbered = _NUMBERED_LINE.match(line) if bases else None
                if numbered:
                    for base in bases:
                        found.setdefault((base, numbered.group(1)), numbered.group(2))
        return found

    def _not_there(self, name: str) -> Look | None:
        """The look that found no such file."""
        base = tidy(name).rpartition("/")[2]
        for look in self.events.looks:
            missing = look.kind == d.READ and look.outcome is Outcome.UNKNOWN
            if missing and "no such file" in look.detail:
                same_name = [path for path in look.paths if path.rpartition("/")[2] == base]
                if same_name:
                    return look
        return None

    def _gone(self, said: Said) -> Held | None:
        """Nothing of it is left: the last search for it says whether that is so."""
        words = set(re.findall(r"[a-z_]{4,}", f"{said.plain} {said.sentence}".lower()))
        after = max((change.at for change in self.files), default=0)
        for look in reversed(self.events.looks):
            if look.kind != d.SEARCH or look.at <= after:
                continue
            wanted = set(re.findall(r"[a-z_]{4,}", look.content.lower()))
            if wanted and not wanted & words:
                continue
            own = _what_is_gone(said)
            folders = [name.strip("/") for name in said.names if "/" in name and " " not in name]
            hits = [
                line
                for line in look.text.splitlines()
                if _holds(line, wanted, own) and _lies_below(line, folders)
            ]
            if not hits or found_nothing(look):
                return Held(V.VERIFIED, f"{look.by} finds nothing", (look.step,))
            first = hits[0].strip()[:100]
            return Held(V.CONTRADICTED, f"{look.by} still finds: {first}", (look.step,))
        return None


def _what_is_gone(said: Said) -> list[str]:
    """The numbers and names that nothing is left of: "both say 20, no mention of 16 is left"."""
    names = [name for name in said.names if "/" not in name and not is_file(name)]
    found = GONE.search(said.plain)
    near = said.plain[found.start() : found.end() + 30] if found else ""
    close = [one for one in (*said.numbers, *names) if one in near]
    return close or [*said.numbers, *names]


def _bases(look: Look) -> frozenset[str]:
    """The names of the files that were looked at, without their folders."""
    return frozenset(path.rpartition("/")[2] for path in look.paths)


GONE = re.compile(
    r"\bno (?:remaining|more|other|further|leftover|stale|old)?\s*(?:\w+ )?(?:usages?|references?|occurrences?|mentions?|matches|imports?|uses|instances|leftovers?|traces?|callers?|hits)\b|\b(?:fully|completely|entirely) (?:replaced|removed|migrated|gone|eliminated)\b|\b(?:all|every) (?:\w+ )?(?:usages?|occurrences?|references?|mentions?|imports?|instances?|calls?(?! sites?))\b[^.]{0,40}\b(?:replaced|removed|updated|renamed|gone|migrated)\b|\ball (?:\w+ )?(?:places|spots|files|modules|call sites|usages?|callers)\b[^.]{0,60}\bnow (?:use|go|call|import)\b|\bgone from\b|\b(?:is|are) gone\b|\bwiped (?:from|out)\b|\b(?:zero|no|0) (?:hits|matches|results|references)\b|\bnone of (?:the )?[^.]{0,40}\bmentions?\b|\bnone (?:are |is )?(?:left|remain)",
    re.IGNORECASE,
)


def _holds(line: str, wanted: Collection[str], own: Collection[str]) -> bool:
    """Whether a line of a search's output is a hit: a word searched for, and one that is claimed."""
    text = _without_place(line).lower()
    searched = not wanted or any(word in text for word in wanted)
    return searched and (not own or any(word.lower() in text for word in own))


def _lies_below(line: str, folders: Sequence[str]) -> bool:
    """Whether a hit is in one of the folders that the claim names; where it names none, it is."""
    return not folders or "/" not in line or any(folder in line for folder in folders)


def _without_place(line: str) -> str:
    """A hit without the file and the line number in front of it."""
    return re.sub(r"^(?:[^\s:]+:)?\d+[:-]", "", line)


def _same_words(wanted: str, line: str) -> bool:
    """`a: b` quotes the line `'a': 'b',` well enough."""
    words = re.findall(r"[\w./-]+", wanted)
    return bool(words) and " ".join(words) in " ".join(re.findall(r"[\w./-]+", line))


_EVERYWHERE = re.compile(r"\b(?:both|all|each|every|everywhere)\b", re.IGNORECASE)


_NOW = re.compile(r"\b(?:now|no longer|is|are|has|jetzt|nun|ahora|désormais|maintenant)\b|なって")


_NUMBERED_LINE = re.compile(r"^\s*(\d+)\s*(?:→|\t|:|\||│|-)\s?(.*)$")


_HIT = re.compile(r"^([^\s:]+):(\d+)[:-](.*)$")


_CITED = re.compile(
    r"\b(?:lines?|zeile|línea|ligne)\s+(\d+)\b(?!\s*(?:to|-|–|bis|a|à)\s*\d)|(\d+)\s*行目|[\w./-]+\.\w{1,6}:(\d+)",
    re.IGNORECASE,
)


_CITED_FILE = re.compile(r"^([\w./@-]+\.\w{1,6})(?::\d+(?:-\d+)?)?$")


def _files(names: Iterable[str]) -> list[str]:
    found = [match.group(1) for name in names if (match := _CITED_FILE.match(name))]
    return list(dict.fromkeys(found))


def citations(said: Said) -> list[tuple[str, str]]:
    """The files and line numbers that a claim cites."""
    files = _files(said.names) or _files((*said.beside, said.about))
    numbers = [
        next(group for group in match.groups() if group) for match in _CITED.finditer(said.plain)
    ]
    if len(files) != 1 or not numbers:
        return []  # which line belongs to which file is not plain to see
    return [(files[0], number) for number in numbers[:1]]


_SCALES = (1, 1000, 60, 3600, 1024, 60_000, 3_600_000, 1_000_000, 1_048_576, 100)


def same_number(spoken: str, text: str) -> bool:
    """Whether a number stands in the text, perhaps in another unit: 900 is a quarter of an hour."""
    try:
        value = float(spoken.replace(",", ""))
    except ValueError:
        return True
    for found in re.findall(r"\d[\d_,]*(?:\.\d+)?", text):
        other = float(found.replace("_", "").replace(",", "") or 0)
        if any(
            abs(value * scale - other) < 1e-9 or abs(value - other * scale) < 1e-9
            for scale in _SCALES
        ):
            return True
    return False
