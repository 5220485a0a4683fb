"""What every claim is held against: what was changed, what was looked at, what is known of both."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from msgspec import Struct

from trialrun.model.ledger import ClaimVerdict, Outcome
from trialrun.verification import deeds as d
from trialrun.verification.claims import Said
from trialrun.verification.covered import Covered, keys_of
from trialrun.verification.events import DATA, FILE, SERVICE, Change, Look
from trialrun.verification.obligations import Duty
from trialrun.verification.paths import same, tidy
from trialrun.verification.subjects import subject_words
from trialrun.verification.wording import ENDINGS

V = ClaimVerdict


WORST = (V.CONTRADICTED, V.UNSUPPORTED, V.STALE, V.DISCLOSED, V.VERIFIED)


class Held(Struct, frozen=True):
    """A verdict with its reason and the steps it rests on."""

    verdict: ClaimVerdict
    reason: str = ""
    evidence: tuple[str, ...] = ()


class Hearing(ABC):
    """What every claim is held against: what was changed, what was looked at, what is known of both."""

    def __init__(
        self,
        covered: Covered,
        duties: Sequence[Duty],
        disclosed: frozenset[str] = frozenset(),
        confessed: bool = False,
        message: str = "",
        asked: str = "",
    ) -> None:
        events = covered.events
        self.covered = covered
        self.events = events
        self.duties = duties
        self.disclosed = disclosed  # changed things that the agent says it did not check
        self.confessed = confessed  # the message says that something fails
        self.message = message  # all that the agent says, for what it leaves out
        self.asked = asked  # what the user has said
        self.changes = [change for change in events.changes if change.kind != "restored"]
        self.files = [change for change in self.changes if change.kind == FILE]
        self.places = [change for change in self.changes if change.kind in (SERVICE, DATA)]
        self.brought: dict[str, int] = {}
        # A message may hold hundreds of claims, and a run thousands of changed files.
        self.by_base: dict[str, list[Change]] = {}
        for change in self.files:
            self.by_base.setdefault(_base(change.target), []).append(change)
            if ":" in change.target:  # on another machine
                there = _base(change.target.partition(":")[2])
                self.by_base.setdefault(there, []).append(change)
        self.spoken_of: dict[Sequence[str], set[str]] = {}

    def _looks_at(
        self, changes: Sequence[Change], kinds: frozenset[str], since: int = 0
    ) -> list[Look]:
        """The looks of these kinds, after that moment, that are about one of the changes."""
        looks = [look for look in self.events.looks if look.kind in kinds and look.at > since]
        keys = keys_of(changes) if looks else frozenset()
        return [look for look in looks if self.covered.any(look, keys)]

    @abstractmethod
    def _service(self, said: Said) -> Held | None:
        """A claim about a service: a description may turn out to be one."""

    @abstractmethod
    def _data(self, said: Said) -> Held:
        """A claim about data: a description may turn out to be one."""

    def _named_changes(self, said: Said, among: Sequence[Change]) -> list[Change]:
        """The changes that the claim names; all of them where it names none."""
        named = [change for change in among if self._names(said, change)]
        if named:
            return named
        words = subject_words(said.plain.replace("`", " "))
        alike = [
            change
            for change in among
            if change.kind == FILE
            and len(subject_words(change.target.rpartition("/")[2]) & words) > 0
        ]
        # A word that fits every changed file tells nothing about which of them is meant.
        return (
            alike
            if alike and len({one.target for one in alike}) < len({one.target for one in among})
            else list(among)
        )

    def _names(self, said: Said, change: Change) -> bool:
        if change.kind == FILE:
            return change.target in self._files_named(said)
        service = change.service
        if service is None:
            return False
        text = said.plain.lower()
        places = [service.host.split(".")[0] if service.host else "", service.cluster or ""]
        words = [*service.names, *filter(None, places)]
        return any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) for word in words)

    def _files_named(self, said: Said) -> set[str]:
        """The changed files whose name the claim says, or the end of it."""
        names = tuple(said.names)
        if names not in self.spoken_of:
            self.spoken_of[names] = {
                change.target
                for name in names
                if (plain := tidy(name))
                for change in self.by_base.get(_base(plain), ())
                if _is_called(change.target, plain)
            }
        return self.spoken_of[names]

    def _unanswered_failure(self, since: Sequence[Look]) -> Look | None:
        """The last failed run that no later and equally wide run has put right."""
        passed: dict[_Scope, Look] = {}  # one of each scope: others of it put right the same runs
        answered: set[tuple[_Scope, str]] = set()
        for look in reversed(since):
            scope = _scope(look)
            if look.outcome is Outcome.PASSED:
                passed.setdefault(scope, look)
            elif look.outcome is Outcome.FAILED and (scope, look.text) not in answered:
                if scope not in passed and not any(
                    _replaces(later, look) for later in passed.values()
                ):
                    return look
                answered.add((scope, look.text))
        return None

    def _effect_latest(
        self, looks: Sequence[Look], after: int, said: Said, about: Sequence[Change] = ()
    ) -> Held:
        since = [look for look in looks if look.at > after and look.informs]
        failed = self._unanswered_failure(since)
        if failed is not None and self._in_part(said, failed):
            return Held(V.VERIFIED, f"{failed.by}: {failed.detail}, as it says", (failed.step,))
        if failed is not None:
            return Held(V.CONTRADICTED, f"{failed.by}: {failed.detail or 'failed'}", (failed.step,))
        passed = [look for look in since if look.outcome is Outcome.PASSED]
        if passed:
            return Held(
                V.VERIFIED, f"{passed[-1].by}: {passed[-1].detail or 'passed'}", (passed[-1].step,)
            )
        changed = min((change.at for change in about or self.changes), default=0)
        before = [
            look for look in looks if changed < look.at <= after and look.outcome is Outcome.PASSED
        ]
        stale = next((look for look in reversed(before) if not self._too_early(said, look)), None)
        if stale is not None:
            why = f"{stale.by} passed, but something was changed afterwards"
            return Held(V.STALE, why, (stale.step,))
        return Held(V.UNSUPPORTED, "nothing that was run after the last change shows it")

    def _in_part(self, said: Said, failed: Look) -> bool:
        """ "It works for CSV; the test of XML still fails": the rest of the run went well."""
        some = failed.counts is not None and bool(failed.counts.passed)
        if failed.kind == d.PROBE:  # "four pods are running, two are pending"
            some = bool(_SOME.search(said.plain))
        # "It used one culture for every tenant" says nothing about every test.
        return self.confessed and some and (said.past or not _ALL.search(said.plain))

    def _too_early(self, said: Said, look: Look) -> bool:
        """A look from before the very change that brought in what the claim names shows none of it."""
        return any(
            len(name) > 2 and self._brought_in(name) > look.at and name not in look.text
            for name in said.names
        )

    def _brought_in(self, name: str) -> int:
        """The moment of the last change whose text has that name; 0 if none has."""
        if name not in self.brought:
            moments = [change.at for change in self.changes if name in change.content]
            self.brought[name] = max(moments, default=0)
        return self.brought[name]

    def _about_places(self, said: Said) -> bool:
        return any(self._names(said, change) for change in self.places)


_SOME = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|some|most|\d{1,2})\b", re.IGNORECASE
)
_ALL = re.compile(r"\b(?:all|every\w*|whole|entire\w*|fully|complete\w*|both)\b", re.IGNORECASE)


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _is_called(target: str, name: str) -> bool:
    return (
        same(name, target)
        or name in (_base(target), target.partition(":")[2])
        or target.endswith("/" + name)
    )


def is_file(name: str) -> bool:
    return bool(_FILE_NAME.match(name)) and not name.startswith("*")


_FILE_NAME = re.compile(rf"^[\w.@/~-]*[\w-]\.(?:{ENDINGS})$")


def first(changes: Sequence[Change], target: str) -> int:
    return min(change.at for change in changes if change.target == target)


def called(look: Look, spoken: str) -> bool:
    """Whether the claim names this very run: `pytest tests/billing`, `ruff`, `tsc`."""
    name = look.by.lower()
    if name in spoken:
        return True
    program = look.command.split(" ")[0].rpartition("/")[2].lower()
    return (
        len(program) > 2
        and program in spoken
        and program not in ("python", "python3", "make", "npm", "yarn", "pnpm", "bash")
        and re.search(rf"(?<![\w-]){re.escape(program)}(?![\w-])", spoken) is not None
    )


def as_wide(later: Look, earlier: Look) -> bool:
    """Whether a run took in at least as much as another one."""
    if later.filters and later.filters != earlier.filters:
        return False
    if not later.paths:
        return True
    return bool(earlier.paths) and all(
        any(one == path or one.startswith(path.rstrip("/") + "/") for path in later.paths)
        for one in earlier.paths
    )


_Scope = tuple[str, str, str | None, tuple[str, ...], tuple[str, ...]]


def _scope(look: Look) -> _Scope:
    """What a run was of: all by which it is held against another one."""
    return look.kind, look.by, look.package, look.paths, look.filters


def _replaces(later: Look, failed: Look) -> bool:
    """Whether a later run takes the place of a failed one: same kind, at least as wide, and passed."""
    if later.kind != failed.kind or later.outcome is not Outcome.PASSED:
        return False
    if later.kind in (d.PROBE, d.QUERY, d.RUN):
        return later.by == failed.by or later.kind == d.PROBE
    if later.by != failed.by:
        return False
    if later.package != failed.package and later.package is not None:
        return False
    if not later.paths and not later.filters:
        return True
    if later.paths == failed.paths and later.filters == failed.filters:
        return True
    if failed.paths and set(failed.paths) <= set(later.paths) and not later.filters:
        return True
    # Only what had failed was run again: fine, if it is all that had failed.
    named = set(re.findall(r"(?:FAILED|FAIL|✗|✘|×|●|rspec|---\s*FAIL:)\s+([^\s:]+)", failed.text))
    if named:
        return all(
            any(
                path in one or one in path or one.rpartition("/")[2] in path
                for path in (*later.paths, *later.filters)
            )
            for one in named
        )
    return False


def found_nothing(look: Look) -> bool:
    if look.kind != d.SEARCH:
        return False
    text = re.sub(
        r"\[(?:The command completed|Current working directory|Command finished)[^\]]*\]|Exit code:? ?1\b"
        r"|^\s*(?:exit|rc|status|code|exit code|exit status)\s*[=:]?\s*\d{1,3}\s*$",
        "",
        look.text,
        flags=re.MULTILINE,
    ).strip()
    return (
        not text
        or bool(_EMPTY.match(text))
        or (
            len(text) < 60
            and text.lower() in ("none", "no match", "no references left", "clean", "0", "ok")
        )
    )


_EMPTY = re.compile(
    r"^\s*(?:found )?(?:0|no) (?:results?|match\w*|files?|references?|hits)\b|^\s*(?:\(?(?:empty|no output|none)\)?|no matches found\.?|no match)\s*$",
    re.IGNORECASE,
)
