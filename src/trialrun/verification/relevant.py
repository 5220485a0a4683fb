"""Which runs a statement about a check speaks of, and what the last of them shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from trialrun.model.ledger import Outcome
from trialrun.verification.covers import Cover, Index
from trialrun.verification.facts import Act, Change, Run
from trialrun.verification.statements import RUN_KINDS, Kind, Statement

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


def relevant(statement: Statement, index: Index) -> Relevant:
    """The runs before the statement that it speaks of."""
    kind = RUN_KINDS.get(statement.kind)
    if kind is None:
        runs: Sequence[Run] = [run for run in index.facts.runs if run.at < statement.at]
    else:
        runs = index.runs_before(kind, statement.at)
    if not statement.names:
        return Relevant(runs, False, False)
    chosen = [run for run in runs if any(_is_called(run, name) for name in statement.names)]
    return Relevant(chosen, True, len(chosen) < len(runs))


def _is_called(run: Run, name: str) -> bool:
    """Whether the run is the command, or one of the runner, that the statement names."""
    if run.name == name or run.command == name:
        return True
    wanted, given = _plain(name), _plain(run.command)
    return wanted == given[: len(wanted)] or _in_order(wanted, given)


def _plain(command: str) -> list[str]:
    return [word for word in re.split(r"[\s'\"]+", command) if word]


def _in_order(wanted: Sequence[str], given: Sequence[str]) -> bool:
    """`go test ./...` is in `go test -race ./...`; the first words are the same."""
    if not wanted or not given or wanted[0].rpartition("/")[2] != given[0].rpartition("/")[2]:
        return False
    remaining = iter(given)
    return all(word in remaining for word in wanted)


def shows_count(count: int, runs: Sequence[Run]) -> bool:
    """Whether an output of the runs has the number, or their counts add up to it."""
    pattern = re.compile(rf"(?<![\d.]){count:,}(?![\d])|(?<![\d.]){count}(?![\d])")
    recent = runs[-12:]
    if any(pattern.search(run.text) for run in recent):
        return True
    per_run = [{run.counts.passed, run.counts.total} for run in recent if run.counts is not None]
    # "14 doctests, 106 tests, 0 failures" are 120; several runs may be added up too.
    per_line = [[int(one) for one in _NUMBER.findall(run.line)] for run in recent]
    return count in _sums([n for one in per_run for n in one if n], count) or any(
        count in _sums(numbers[:6], count) for numbers in per_line
    )


_NUMBER = re.compile(r"(?<![\d.])\d{1,6}(?![\d.])")


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
_COMPILED = frozenset(
    "go rust jvm dotnet c swift elixir haskell zig ocaml dart crystal nim".split()
)
"""Languages whose tests cannot run without a build and a check of types."""

# A task of this name may be any check: `make check`, `npm run validate`, `mvn install`.
_BROAD = frozenset("check ci verify validate all qa precommit pre-commit prepush install".split())
_RESULT_WORDS = re.compile(
    r"\b(?:pass\w*|ok|success\w*|succeed\w*|good|green|clean|errors?|fail\w*|warnings?|issues?)\b|[✓✔✅✗×]",
    re.IGNORECASE,
)


def may_have_run(statement: Statement, index: Index, since: int = 0) -> bool:
    """Whether anything before the statement, after `since`, may have been such a check."""
    kind = RUN_KINDS.get(statement.kind, "")
    for run in index.facts.runs:
        if since < run.at < statement.at and _may_include(run, kind):
            return True
    for one in index.facts.unknown:
        if since < one.at < statement.at and (one.opaque or _may_be(kind, one.command, one.text)):
            return True
    return any(
        since < act.at < statement.at and act.kind in ("ci", "remote") for act in index.facts.acts
    )


def _may_include(run: Run, kind: str) -> bool:
    if run.shows(kind) or (run.name.rpartition(" ")[2] in _BROAD and run.name != "cargo check"):
        return True
    if run.kind == "test" and kind in ("build", "types") and run.languages & _COMPILED:
        return True
    if run.kind == "hook":
        return not run.also  # it printed something, and nothing says what it was
    if run.kind == "run":
        return _may_be(kind, run.command, run.text)
    return run.kind in _INCLUDED_IN.get(kind, ())


def _may_be(kind: str, command: str, text: str) -> bool:
    """Whether a program whose output shows nothing that we know may have been the check.

    A check says how it ended, in few lines or with words of success or failure; some say nothing.
    """
    if kind and kind in command.lower():
        return True
    text = text.strip()
    return text.count("\n") < 3 or bool(_RESULT_WORDS.search(text[-1500:]))


def undoing(statement: Statement, run: Run, index: Index) -> Change | None:
    """The change after the run, and before the statement, that the run covers."""
    return index.changed_between(run, statement.at, Cover.YES)


def verified_by(statement: Statement, found: Relevant, index: Index) -> Run | None:
    """The run that shows the statement, or None where nothing does for certain."""
    last = found.last
    if last is None or last.outcome is not Outcome.PASSED or last.tolerant:
        return None
    for cover in (Cover.YES, Cover.PERHAPS):
        if index.changed_between(last, statement.at, cover) is not None:
            return None
    if statement.count is not None and not shows_count(statement.count, found.runs):
        return None
    whole = statement.all and statement.count is None and not statement.qualified
    if whole and last.partial and statement.kind is Kind.TESTS:
        return None
    if _red_beside(statement, found):
        return None
    return last


def _red_beside(statement: Statement, found: Relevant) -> bool:
    """Whether a whole run was red and only a part was run again: a narrow pass."""
    last = found.last
    if last is None or not last.partial or statement.qualified or statement.count is not None:
        return False
    wide = [run for run in found.runs if not run.partial]
    return bool(wide) and wide[-1].outcome is Outcome.FAILED


class Deed(Struct, frozen=True):
    """A kind of act that a message may state: its name, the acts that may be it, words that hint at it."""

    name: str
    ways: tuple[str, ...]
    hints: tuple[str, ...]


def act_missing(
    statement: Statement, kind: Kind, deed: Deed, index: Index
) -> tuple[str, tuple[str, ...]] | None:
    """Why the stated act was not done, and the step of a failed try; None if it may have been."""
    if statement.kind is not kind or statement.admits:
        return None
    if _OTHERS_DEED.search(statement.text):
        return None
    before = [act for act in index.facts.acts if act.at < statement.at]
    tried = [act for act in before if act.kind in deed.ways]
    if any(act.ok is not False for act in tried) or _may_have(statement, deed, index):
        return _unknown_hash(statement, deed, before, index)
    if tried:
        return f"the {deed.name} before this was said failed", (tried[-1].step,)
    return f"there is no {deed.name} before this was said", ()


# Somebody else's act, or an earlier one: "already pushed", "you committed", "was deployed by CI".
_OTHERS_DEED = re.compile(r"\b(?:already|you|your|user|they|was|were|by)\b", re.IGNORECASE)


def _may_have(statement: Statement, deed: Deed, index: Index) -> bool:
    """Whether something that is not known, or a program, may have done it."""
    for one in index.facts.unknown:
        if one.at < statement.at and (one.opaque or _hints(deed, one.command, one.text)):
            return True
    return any(
        run.at < statement.at and run.kind == "run" and _hints(deed, run.command, run.text[:4000])
        for run in index.facts.runs
    )


def _hints(deed: Deed, *texts: str) -> bool:
    return any(hint in text.lower() for hint in deed.hints for text in texts)


def _unknown_hash(
    statement: Statement, deed: Deed, before: Sequence[Act], index: Index
) -> tuple[str, tuple[str, ...]] | None:
    """A commit that is named and that nothing in the session has."""
    for name in statement.names:
        if _HASH.fullmatch(name) and not any(name[:7] in text for text in index.facts.texts):
            step = before[-1].step if before else ""
            return f"nothing in the session has the commit {name}", (step,)
    return None


_HASH = re.compile(r"[0-9a-f]{7,40}")
