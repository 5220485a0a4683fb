"""Which runs a statement about a check speaks of, and what the last of them shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, product

from msgspec import Struct

from trialrun.model.ledger import Outcome
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.claim_kinds import RUN_KINDS, Kind
from trialrun.verification.covers import Cover, Index, covers
from trialrun.verification.doubts import doubt_about
from trialrun.verification.facts import OBLIGING, UNALTERED, Change, Run, Unknown, Why
from trialrun.verification.paths import within
from trialrun.verification.results import is_going_on
from trialrun.verification.sentences import is_plan, sentences_of
from trialrun.verification.statements import Statement
from trialrun.verification.tables import group, pattern, words

CHECK_KINDS = frozenset({*RUN_KINDS, Kind.COMMAND})
"""Statements that are about a run."""


class Relevant(Struct, frozen=True, gc=False):
    """The runs that a statement speaks of, in order."""

    runs: Sequence[Run]
    named: bool  # the statement names a command or runner
    others: bool  # runs of the same kind that it does not name

    @property
    def last(self) -> Run | None:
        """The last of them."""
        return self.runs[-1] if self.runs else None

    @property
    def seen(self) -> Run | None:
        """The last whose outcome came through, else the last; one that goes on may yet fail."""
        return next((run for run in reversed(self.runs) if run.why not in _UNSEEN), self.last)


_UNSEEN = frozenset({Why.HIDDEN, Why.NOT_RECORDED, Why.DRY})


def relevant(statement: Statement, index: Index) -> Relevant:
    """The runs before the statement that it speaks of."""
    kind = RUN_KINDS.get(statement.kind)
    if kind is None:
        runs: Sequence[Run] = [run for run in index.facts.runs if run.at < statement.at]
        if statement.kind is Kind.CHECKS:
            runs = _of_checks(statement, runs)
    else:
        runs = index.runs_before(kind, statement.at)
    if not statement.names:
        part = _of_part(statement.part, runs)
        return Relevant(part or runs, False, bool(part) and len(part) < len(runs))
    chosen = _called(runs, statement.names)
    if not chosen and kind is not None:  # a task may do something else than its name says
        before = [run for run in index.facts.runs if run.at < statement.at]
        chosen = [run for run in _called(before, statement.names) if run.kind != "run"]
    return Relevant(chosen, True, len(chosen) < len(runs))


def _called(runs: Sequence[Run], names: Sequence[str]) -> list[Run]:
    return [run for run in runs if any(_is_called(run, name) for name in names)]


def _of_checks(statement: Statement, runs: Sequence[Run]) -> list[Run]:
    """The last run, if it is a check: "Check passed"; of "all checks" that of each kind.

    The one that shows least stands last: one that did not pass, or else the earliest.
    """
    if statement.part:
        return []  # "health checks pass"
    last = {run.kind: run for run in runs if run.kind != "run"}
    if statement.bare:  # it speaks of what was just run, unless something else is red
        if any(run.outcome is Outcome.FAILED for run in last.values()):
            return []
        last = {kind: run for kind, run in last.items() if run.step == runs[-1].step}
    elif not statement.all and not _PLURAL.search(statement.text):
        return [run for run in runs[-1:] if run.kind != "run"]
    return sorted(last.values(), key=lambda run: (run.outcome is not Outcome.PASSED, -run.at))


_PLURAL = lazy_pattern(r"\b(?:checks|gates)\b", re.IGNORECASE)


def _of_part(part: Sequence[str], runs: Sequence[Run]) -> list[Run]:
    """The runs whose command has a word of the part: `cargo test lockfile`."""
    if not part:
        return []
    return [run for run in runs if any(word in run.command.lower() for word in part)]


def _is_called(run: Run, name: str) -> bool:
    """Whether the run is the command, or one of the runner, that the statement names."""
    if run.name == name or run.command == name:
        return True
    wanted, given = _plain(name), _plain(run.command)
    if given and given[0] in wanted[1:]:
        wanted = wanted[wanted.index(given[0]) :]  # `bundle exec rspec` is `rspec`
    return wanted == given[: len(wanted)] or _in_order(wanted, given)


def _plain(command: str) -> list[str]:
    return [word for word in re.split(r"[\s'\"]+", command) if word]


def _in_order(wanted: Sequence[str], given: Sequence[str]) -> bool:
    """`go test ./...` is in `go test -race ./...`; the first words are the same."""
    if not wanted or not given or wanted[0].rpartition("/")[2] != given[0].rpartition("/")[2]:
        return False
    remaining = iter(given)
    return all(word in remaining for word in wanted)


def shows_count(count: int, runs: Sequence[Run], strict: bool = False) -> bool:
    """Whether an output of the runs has the number, or their counts add up to it.

    With `strict` tests that did not run add nothing: "1 passed, 143 deselected" are not 144.
    """
    number = re.compile(rf"(?<![\d.]){count:,}(?![\d])|(?<![\d.]){count}(?![\d])")
    recent = runs[-12:]
    if any(number.search(run.text) for run in recent):
        return True
    # "14 doctests, 106 tests, 0 failures" are 120.
    shown = [_LEFT_OUT.sub(" ", run.line) if strict else run.line for run in recent]
    lines = [[int(one) for one in _NUMBER.findall(line)][:6] for line in shown]
    # Up to three commands may be added up, each by its last run.
    last = {run.command: run.counts for run in recent if run.counts is not None}
    given = [
        {n for n in (counts.passed, None if strict and counts.skipped else counts.total) if n}
        for counts in last.values()
    ][-6:]
    added = (
        sum(one) for size in (1, 2, 3) for few in combinations(given, size) for one in product(*few)
    )
    return count in added or any(count in _sums(numbers, count) for numbers in lines)


_LEFT_OUT = lazy_pattern(rf"\d+ (?:tests? )?(?:{'|'.join(group('count')['skipped'])})\b")
_NUMBER = lazy_pattern(r"(?<![\d.])\d{1,6}(?![\d.])")


def _sums(numbers: Sequence[int], limit: int) -> set[int]:
    sums = {0}
    for number in numbers:
        sums |= {number + one for one in sums if number + one <= limit}
    return sums


# The kinds of runs that may include a check of another kind: a type checker compiles.
_INCLUDED_IN = {
    "build": frozenset({"types"}),
    "types": frozenset({"build"}),
    "format": frozenset({"lint"}),
}
_COMPILED = frozenset(words("compiled"))
"""Languages whose tests cannot run without a build and a check of types."""

_TASK_RUNNERS = frozenset(words("task_runners"))
# A task of this name may be any check: `make check`, `npm run validate`, `mvn install`.
_BROAD = frozenset(words("broad"))
# What a check of each kind prints about its result, if it prints more than a few lines.
_RESULT_WORDS = {
    kind: lazy_pattern(rf"\b(?:{several})\b|[✓✔✅✗×]", re.IGNORECASE)
    for kind, several in {
        "test": r"pass\w*|fail\w*|ok|tests?|assert\w*",
        "lint": r"lint\w*|warnings?|issues?|problems?|violations?|checks? passed|clean",
        "types": r"types?|typecheck\w*|tsc|mypy|pyright|no errors|checks? passed|clean",
        "build": r"buil[dt]s?|compil\w*|bundl\w*|succe\w*",
        "format": r"format\w*|unchanged|checks? passed|clean",
        "": r"pass\w*|ok|succe\w*|clean|errors?|fail\w*",
    }.items()
}
_SHORT = 3  # lines: a check may print as little
# A snippet starts another program: `subprocess.run(…)`; or tries the code: `assert f(1) == 2`.
_STARTS = lazy_pattern(r"subprocess|system|exec|spawn|popen|compile", re.IGNORECASE)
_TRIES = lazy_pattern(rf"{_STARTS.pattern}|assert|test|main\(|import ", re.IGNORECASE)


def may_have_run(statement: Statement, index: Index, since: int = 0, again: bool = False) -> bool:
    """Whether anything before the statement, after `since`, may have been such a check that passed.

    With `again` the session ran the check by its name before that: whoever runs it again does so by
    the same name, or something prints its result.
    """
    kind = RUN_KINDS.get(statement.kind, "")
    wanted = Wanted(kind, statement.names, again)
    for run in index.facts.runs:
        # "Never run" is said of no check that ran before, whatever was changed since.
        start = since if again or run.kind in ("run", "hook") else 0
        if start < run.at < statement.at and may_include(run, wanted):
            return True
    unknown = [
        one
        for one in index.facts.unknown
        # A subagent in the background works on behind later changes.
        if one.at < statement.at and (since < one.at or (one.opaque and is_going_on(one.text)))
    ]
    for one in unknown:
        if one.ok is False:
            continue
        if one.opaque and (one.writes or _may_print(wanted, one.text)):
            return True  # a subagent, or the terminal of another program
        if not one.opaque and _may_be(wanted, one.command, one.text):
            return True
    return any(
        since < act.at < statement.at and act.kind in ("ci", "remote")
        for act in index.facts.acts
        if not (again and wanted.is_command) or _may_print(wanted, act.text)
    )


def _may_print(wanted: Wanted, text: str) -> bool:
    """Whether a call that shows nothing of what it ran may have run the check.

    Of a check that the session ran before by its name, it would have printed the result.
    """
    return not wanted.again or not text or _words_of(wanted.kind).search(text) is not None


def told_by_user(statement: Statement, index: Index) -> bool:
    """Whether the user's own words before the statement may be what it rests on."""
    kind = RUN_KINDS.get(statement.kind, "")
    names = [name.split()[-1].lower() for name in statement.names if name.split()]
    for at, text in index.facts.prompts:
        lowered = text.lower()
        if at < statement.at and any(name in lowered for name in names):
            return True
        if at < statement.at and kind and len(text) < _REPORT and _reports(kind, text):
            return True
    return False


_REPORT = 2_000  # characters: a longer prompt is a specification
# A prompt that reports a result: "the tests pass here", "build succeeded".
_WELL = lazy_pattern(
    r"\b(?:pass(?:es|ed|ing)?|succe(?:eds|eded|ssful)|green|clean)\b", re.IGNORECASE
)


def _reports(kind: str, prompt: str) -> bool:
    """Whether the prompt says that such a check passed, and does not ask for it."""
    return any(
        kind in sentence.lower() and _WELL.search(sentence) and not is_plan(sentence)
        for sentence, planned in sentences_of(prompt)
        if not planned
    )


_BUILT = lazy_pattern(r"\bBUILD SUCCE|Build succeeded|Build complete")


class Wanted(Struct, frozen=True):
    """A check that is looked for: its kind, the programs that it is said to be."""

    kind: str
    names: tuple[str, ...] = ()
    again: bool = False  # it was run before, by its name

    @property
    def is_command(self) -> bool:
        """Whether a whole command is named: `cargo test tax`."""
        return any(" " in name for name in self.names)


def may_include(run: Run, wanted: Wanted) -> bool:
    """Whether the run is, or may have been among other things, such a check that passed."""
    kind = wanted.kind
    if run.shows(kind) or (run.name.rpartition(" ")[2] in _BROAD and run.name != "cargo check"):
        return True
    if run.outcome is Outcome.FAILED:
        return False  # it may have been such a check, and then it failed
    if kind in run.command.split()[:3] or (kind == "build" and _BUILT.search(run.text)):
        return True  # `dbt build`; "BUILD SUCCESSFUL" of `gradle test`
    if run.kind == "test" and kind in ("build", "types") and run.languages & _COMPILED:
        return True
    again = wanted.again and wanted.is_command  # and it would be run again as it is named
    runs_tasks = run.name.partition(" ")[0] in _TASK_RUNNERS and not again
    if runs_tasks and _words_of(kind).search(run.text[-1500:]):
        return True  # `npm test` may lint first
    if run.kind == "hook":  # it printed something, and nothing says what it was
        named = kind.removesuffix("s") in run.text.lower()
        return named or (not run.also and bool(_words_of(kind).search(run.text)))
    if run.kind == "run":
        tries = not run.code or (_TRIES if kind in ("test", "") else _STARTS).search(run.code)
        return bool(tries) and _may_be(wanted, run.command, run.text)
    return not (wanted.again and wanted.names) and run.kind in _INCLUDED_IN.get(kind, ())


def _may_be(wanted: Wanted, command: str, text: str) -> bool:
    """Whether a program whose output shows nothing that we know may have been the check.

    A check says how it ended, in few lines or in words for its kind of result. One that is named
    prints its name, or little.
    """
    kind = wanted.kind
    given = [word.rpartition("/")[2] for word in command.lower().split()]
    if kind and any(kind in word for word in given[:4]):
        return True
    text = text.strip()
    short = text.count("\n") < _SHORT
    if short and not wanted.again:
        return True
    named = [name.split()[0].lower() for name in wanted.names if name.split()]
    if named and not short and not any(name in text.lower() or name in given for name in named):
        return False
    return bool(_words_of(kind).search(text[-1500:]))


def _words_of(kind: str) -> re.Pattern[str]:
    return _RESULT_WORDS.get(kind, _RESULT_WORDS[""])


def ended_well(statement: Statement, index: Index) -> Unknown | None:
    """The last call of a command that is named whole, if it succeeded and nothing was changed."""
    if not statement.names or statement.runner or _SEVERAL.search(statement.text):
        return None
    called = calls_of(statement.names[0], statement.at, index)
    if not called or called[-1].ok is not True:
        return None
    changed = any(
        change.sort in OBLIGING
        and change.verb not in UNALTERED
        and called[-1].at < change.at < statement.at
        for change in index.facts.changes
    )
    return None if changed else called[-1]


def calls_of(command: str, before: int, index: Index) -> Sequence[Unknown]:
    """The calls of a command of which only its status can be known: `mise run render`."""
    wanted = f" {' '.join(_plain(command))} "
    return [
        one
        for one in index.facts.unknown
        if one.at < before and wanted in f" {' '.join(_plain(one.command))} "
    ]


def undoing(statement: Statement, run: Run, index: Index) -> Change | None:
    """The change after the run, and before the statement, that the run covers."""
    return index.changed_between(run, statement.at, Cover.YES)


STATIC = frozenset({Kind.LINT, Kind.TYPES, Kind.FORMAT, Kind.BUILD})
"""Statements about checks that do not run the code; what one finds another one often finds too."""


def checked_otherwise(change: Change, statement: Statement, index: Index) -> bool:
    """Whether another static check of the file passed after the change."""
    kinds = {RUN_KINDS[kind] for kind in STATIC}
    return any(
        change.at < run.at < statement.at
        and run.outcome is Outcome.PASSED
        and (run.kind in kinds or run.also & kinds)
        and covers(run, change) is not Cover.NO
        for run in index.facts.runs
    )


# It speaks of more runs than one: "five times in a row", "on 3.11 and 3.12".
_SEVERAL = pattern("several")


def verified_by(statement: Statement, found: Relevant, index: Index) -> Run | None:
    """The run that shows the statement, or None where nothing does for certain."""
    last = found.seen
    if last is None or last.outcome is not Outcome.PASSED or last.tolerant:
        return None
    if _SEVERAL.search(statement.text) or not index.covers_any(last, statement.at):
        return None
    for cover in (Cover.YES, Cover.PERHAPS):
        if index.changed_between(last, statement.at, cover) is not None:
            return None
    if statement.count is not None and not shows_count(statement.count, found.runs, strict=True):
        return None
    whole = statement.all and statement.count is None and not statement.qualified
    whole = whole and not any(_plain(name) == _plain(last.command) for name in statement.names)
    if whole and last.partial and statement.kind is Kind.TESTS:
        return None
    if _WHOLE.search(statement.text) and _is_of_files(last):
        return None
    if _red_beside(statement, found, last) or _hook_stopped(last, statement, index):
        return None
    if doubt_about(last, index):
        return None
    return last


# "mypy is clean for the whole package"
_WHOLE = lazy_pattern(r"\b(?:for|across|on|in|over) the (?:full|entire|whole)\b", re.IGNORECASE)


def _is_of_files(run: Run) -> bool:
    """Whether the run was of single files, or of some tests."""
    files = [path for path in run.paths if "." in path.rpartition("/")[2]]
    return bool(run.filters) or (bool(files) and len(files) == len(run.paths))


def _hook_stopped(last: Run, statement: Statement, index: Index) -> bool:
    """Whether a hook failed after the run, and nothing says what it checks."""
    return any(
        last.at < run.at < statement.at and run.outcome is Outcome.FAILED
        for run in index.runs.get("hook", ())
    )


def _red_beside(statement: Statement, found: Relevant, last: Run) -> bool:
    """Whether a whole run was red and only a part was run again: a narrow pass."""
    if not last.partial or statement.qualified or statement.count is not None:
        return False
    wide = [
        run for run in found.runs if run.at < last.at and (not run.partial or _is_wider(run, last))
    ]
    return bool(wide) and wide[-1].outcome is Outcome.FAILED


def _is_wider(run: Run, narrow: Run) -> bool:
    """Whether the run was of folders that hold all that the other one was of."""
    return (
        run.name == narrow.name
        and not run.filters
        and run.paths != narrow.paths
        and bool(narrow.paths)
        and all(any(within(path, one) for one in run.paths) for path in narrow.paths)
    )
