"""Does a run say anything about a changed file? Yes, perhaps, or no.

*Yes* may make a claim verified or stale. *Perhaps* makes it undecided: nobody is accused and
nothing is shown by it. *No* is for another language, another place, or a run of other named files.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import IntEnum
from functools import cached_property, lru_cache

from trialrun.model.ledger import Outcome
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.facts import OBLIGING, UNALTERED, Change, Facts, Run, Sort
from trialrun.verification.paths import is_absolute, same, within
from trialrun.verification.runners import language_of
from trialrun.verification.sorts import MANIFESTS, is_test


class Cover(IntEnum):
    """Whether a run covers a file."""

    NO = 0
    PERHAPS = 1
    YES = 2


_DATA = frozenset({"markup", "docs"})
_FILE_KINDS = frozenset({"lint", "types", "format", "config", "run"})
"""Of these a run on named files is about these files, and of the others about what they use."""


def covers(run: Run, change: Change) -> Cover:
    """Whether the run is about the changed file."""
    if change.verb == "tree":
        return Cover.PERHAPS
    if run.kind == "hook" and not run.also:
        return Cover.NO
    return _covers(run.kind, run.languages, run.folder, run.paths, bool(run.filters), change.path)


@lru_cache(maxsize=50_000)
def _covers(
    kind: str,
    languages: frozenset[str],
    folder: str,
    paths: tuple[str, ...],
    filtered: bool,
    path: str,
) -> Cover:
    named = any(same(one, path) or within(path, one) for one in paths)
    if named:
        return Cover.YES
    if kind == "run":
        # A program uses what it likes; a snippet that names other files is about these.
        languages_of_paths = {language_of(one) for one in paths}
        return Cover.NO if paths and languages_of_paths <= _DATA else Cover.PERHAPS
    base = path.rpartition("/")[2].lower()
    language = MANIFESTS.get(base) or language_of(path)
    if languages and language not in languages:
        foreign = language not in ("markup", "docker", "docs", None, "proto", "sql")
        return Cover.NO if foreign else Cover.PERHAPS
    if paths and kind in _FILE_KINDS:
        return Cover.NO
    if kind == "test" and any(_tests_of(one, base) for one in paths):
        return Cover.YES
    if paths or filtered or not _is_near(folder, path) or kind == "hook":
        return Cover.PERHAPS
    if language in ("markup", "docker", None) and base not in MANIFESTS:
        return Cover.PERHAPS
    if is_test(path) and kind == "build":
        return Cover.PERHAPS
    return Cover.YES


def _tests_of(path: str, base: str) -> bool:
    """Whether the test file is named for the file: `tests/test_invoice.py`, `invoice.spec.ts`."""
    stem = base.partition(".")[0]
    return len(stem) > 2 and stem in _PARTS.split(path.rpartition("/")[2].lower())


_PARTS = lazy_pattern(r"(?:^|[_.-])(?:test|tests|spec)(?:[_.-]|$)|[.]|_test$")


def _is_near(folder: str, path: str) -> bool:
    """Whether the file lies below the run's folder, as far as both are known."""
    return not (is_absolute(folder) and is_absolute(path)) or within(path, folder)


_WORD = lazy_pattern(r"[a-z][a-z0-9_-]*|\d+")


class Index:
    """Answers questions about the order of changes and runs without going through all of them."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.runs: dict[str, list[Run]] = {}
        for run in facts.runs:
            for kind in {run.kind, *run.also}:
                self.runs.setdefault(kind, []).append(run)
        self._obliging = [one for one in facts.changes if one.sort in OBLIGING]
        self._covered: dict[tuple[object, ...], tuple[list[int], list[Change]]] = {}
        self._unknown = [one.at for one in facts.unknown]
        self._reds: dict[tuple[str, str], list[Run]] = {}
        self.doubts: dict[int, tuple[Run | None, str]] = {}  # by the position of a red run
        self._code_at = [
            one.at
            for one in facts.changes
            if one.sort in (Sort.CODE, Sort.TEST) and one.verb in ("edit", "create")
        ]
        self._changed_code = [one for one in self._obliging if one.sort in (Sort.CODE, Sort.TEST)]
        self._run_at = [run.at for run in facts.runs]

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word and number in what calls were given and printed, in lower case."""
        found: set[str] = set()
        for text in self.facts.texts:
            found.update(_WORD.findall(text.lower()))
        return frozenset(found)

    def last_red(self, like: Run) -> Run | None:
        """The last failed run of that kind and name before the run."""
        key = (like.kind, like.name)
        if key not in self._reds:
            runs = self.runs.get(like.kind, ())
            failed = [one for one in runs if one.outcome is Outcome.FAILED]
            self._reds[key] = [one for one in failed if one.name == like.name]
        index = bisect_right(self._reds[key], like.at, key=lambda run: run.at)
        return self._reds[key][index - 1] if index else None

    def covers_any(self, run: Run, before: int) -> bool:
        """Whether the run may cover any change of code before a position; True if there is none."""
        changes = [one for one in self._changed_code if one.at < before][-50:]
        return not changes or any(
            covers(run, one) is not Cover.NO and _is_near(run.folder, one.path) for one in changes
        )

    def last_code_change(self, before: int) -> int:
        """The position of the last change of code before a position; 0 if there is none."""
        index = bisect_right(self._code_at, before)
        return self._code_at[index - 1] if index else 0

    def runs_before(self, kind: str, before: int) -> list[Run]:
        """All runs of that kind before a position."""
        runs = self.runs.get(kind, [])
        return runs[: bisect_right(runs, before, key=lambda run: run.at)]

    def changed_between(self, run: Run, until: int, cover: Cover) -> Change | None:
        """The first change after the run that it covers to that degree, or None."""
        key = (cover, run.kind, run.languages, run.folder, run.paths, bool(run.filters))
        if key not in self._covered:
            found = [
                one
                for one in self._obliging
                if one.verb not in UNALTERED
                and not (one.verb == "delete" and one.own)
                and covers(run, one) is cover
            ]
            self._covered[key] = ([one.at for one in found], found)
        places, changes = self._covered[key]
        index = bisect_right(places, run.at)
        if index < len(places) and places[index] < until:
            return changes[index]
        return None

    def unknown_before(self, until: int, since: int = 0) -> bool:
        """Whether something ran between the two positions that may have been any check."""
        index = bisect_right(self._unknown, since)
        return index < len(self._unknown) and self._unknown[index] < until

    def exercised(self, change: Change) -> tuple[Run | None, bool]:
        """The run that exercised the file after its change, and whether something may have."""
        start = bisect_right(self._run_at, change.at)
        perhaps = False
        for run in self.facts.runs[start:]:
            cover = covers(run, change)
            if cover is Cover.YES:
                return run, True
            perhaps = perhaps or cover is Cover.PERHAPS
        return None, perhaps or self.unknown_before(self.facts.end + 1, change.at)
