"""What a chunk of traces gives: its rows, and a summary from which all totals are made."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct, field

from trialrun.engine.trace_matches import Match, label_of
from trialrun.errors import Problem
from trialrun.model.case import EvalCase
from trialrun.model.results import (
    CheckStatus,
    EvaluationResult,
    JudgeSpend,
    LayerStatus,
    Tally,
    is_without_baseline,
)
from trialrun.model.trace import Trace

MOST_LISTED = 100
"""How many problems, notes and traces without a case a chunk lists; the others are counted."""


_RED = (LayerStatus.FAIL, LayerStatus.ERROR)
_MOST_GROUPS = 10_000

About = tuple[str | None, str | None]
"""The model and the day of a trace."""


class Counts(Struct, omit_defaults=True):
    """Attempts counted together: those of one case, model and day in a chunk, or sums of these."""

    statuses: dict[str, int] = field(default_factory=dict)
    unknown_checks: int = 0
    without_baseline: int = 0  # attempts
    retried: int = 0
    silent: int = 0  # attempts in error of which the trace has no answer
    known_cost: int = 0  # attempts with a known cost
    cost_usd: float = 0.0
    known_tokens: int = 0
    tokens: int = 0
    judge: JudgeSpend | None = None

    @property
    def attempts(self) -> int:
        """How many there are."""
        return sum(self.statuses.values())

    @property
    def has_verdict(self) -> bool:
        """Whether one of them has a verdict."""
        return self.attempts > self.statuses.get("error", 0)

    def add(self, result: EvaluationResult, is_silent: bool) -> None:
        """Count one more attempt."""
        status = result.status.value
        self.statuses[status] = self.statuses.get(status, 0) + 1
        lacks = False
        for _, check in result.checks():
            if check.status is CheckStatus.UNKNOWN:
                self.unknown_checks += 1
            elif is_without_baseline(check):
                lacks = True
        self.without_baseline += lacks
        self.retried += bool(result.earlier_errors)
        self.silent += is_silent
        if result.cost_usd is not None:
            self.known_cost += 1
            self.cost_usd += result.cost_usd
        if result.total_tokens is not None:
            self.known_tokens += 1
            self.tokens += result.total_tokens
        if result.judge is not None:
            self.judge = self.judge or JudgeSpend()
            self.judge.add(result.judge)

    def merge(self, other: Counts) -> None:
        """Add other attempts."""
        for status, count in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + count
        self.unknown_checks += other.unknown_checks
        self.without_baseline += other.without_baseline
        self.retried += other.retried
        self.silent += other.silent
        self.known_cost += other.known_cost
        self.cost_usd += other.cost_usd
        self.known_tokens += other.known_tokens
        self.tokens += other.tokens
        if other.judge is not None:
            self.judge = self.judge or JudgeSpend()
            self.judge.add(other.judge)

    def tally(self, cases: int, without_baseline: int) -> Tally:
        """The totals of a run."""
        total = self.attempts
        statuses = {status: self.statuses.get(status.value, 0) for status in LayerStatus}
        return Tally(
            statuses=statuses,
            attempts=total,
            cases=cases,
            unknown_checks=self.unknown_checks,
            without_baseline=without_baseline,
            retried=self.retried,
            known_cost_usd=self.cost_usd if self.known_cost else None,
            has_unknown_cost=self.known_cost < total,
            total_tokens=self.tokens if self.known_tokens == total else None,
            judge=self.judge,
        )


class Sums(Struct, omit_defaults=True):
    """Attempts counted together, and by `tag`, `model` and `day`."""

    counts: Counts = field(default_factory=Counts)
    by: dict[str, dict[str, Counts]] = field(
        default_factory=lambda: {"tag": {}, "model": {}, "day": {}}
    )

    def add(self, counts: Counts, tags: Sequence[str], model: str | None, day: str | None) -> None:
        """Add attempts that have these in common."""
        self.counts.merge(counts)
        for kind, names in (("tag", tags), ("model", (model,)), ("day", (day,))):
            groups = self.by[kind]
            for name in names or (None,):
                self._group(groups, name or f"(no {kind})").merge(counts)

    def merge(self, other: Sums) -> None:
        """Add other attempts."""
        self.counts.merge(other.counts)
        for kind, groups in other.by.items():
            mine = self.by[kind]
            for name, counts in groups.items():
                self._group(mine, name).merge(counts)

    def _group(self, groups: dict[str, Counts], name: str) -> Counts:
        if name not in groups and len(groups) >= _MOST_GROUPS:
            name = "(others)"
        return groups.setdefault(name, Counts())


class Summary(Struct, omit_defaults=True):
    """All that is known of a chunk but its rows. Line numbers count from the chunk's first line."""

    chunk: int
    cases: list[int] = field(default_factory=list)  # the case of each row, by its number
    red: list[int] = field(default_factory=list)  # the first rows with a failure or an error
    weak: list[int] = field(default_factory=list)  # the rows of traces matched by their input
    sums: Sums = field(default_factory=Sums)  # of all rows but those
    sums_by_input: dict[int, Sums] = field(default_factory=dict)  # of those, by case
    with_verdict: list[int] = field(default_factory=list)  # the cases of `sums` that have one
    without_baseline: list[int] = field(default_factory=list)
    traces: int = 0
    left_out: int = 0  # traces that are not in the sample
    left_out_of: dict[int, int] = field(default_factory=dict)  # … by case
    named_left_out: set[int] = field(default_factory=set)  # … of those matched by name
    lines: list[int] = field(default_factory=list)  # of each piece
    problems: list[tuple[int, Problem]] = field(default_factory=list)  # with the piece
    further: dict[int, int] = field(default_factory=dict)  # problems not listed, by piece
    notes: list[tuple[int, Problem]] = field(default_factory=list)
    further_notes: int = 0
    strays: list[str] = field(default_factory=list)  # traces without a case
    further_strays: int = 0
    by_input: list[tuple[list[int], int]] = field(default_factory=list)
    """How many traces were matched by their input only, by the cases that they were matched to."""
    warnings: list[tuple[int, str]] = field(default_factory=list)  # with the case
    unlike: dict[str, set[str]] = field(default_factory=dict)
    size: int = 0  # bytes of the rows
    digest: str = ""  # of the rows

    def counted(self) -> int:
        """How many attempts the sums have."""
        by_input = sum(one.counts.attempts for one in self.sums_by_input.values())
        return self.sums.counts.attempts + by_input


class Tallying:
    """Fills the summary of a chunk while it is judged."""

    def __init__(self, chunk: int) -> None:
        self.summary = Summary(chunk)
        self._groups: dict[tuple[int, bool, str | None, str | None], Counts] = {}
        self._by_input: dict[tuple[int, ...], int] = {}
        self._tags: dict[int, Sequence[str]] = {}

    def problem(self, piece: int, problem: Problem) -> None:
        """Note something that cannot be read."""
        summary = self.summary
        if len(summary.problems) < MOST_LISTED:
            summary.problems.append((piece, problem))
        else:
            summary.further[piece] = summary.further.get(piece, 0) + problem.count

    def note(self, piece: int, notes: Sequence[Problem]) -> None:
        """Note values that were left out."""
        space = MOST_LISTED - len(self.summary.notes)
        self.summary.notes += [(piece, note) for note in notes[:space]]
        self.summary.further_notes += max(0, len(notes) - space)

    def stray(self, trace: Trace) -> None:
        """Note a trace without a case."""
        if len(self.summary.strays) < MOST_LISTED:
            self.summary.strays.append(label_of(trace))
        else:
            self.summary.further_strays += 1

    def by_input(self, matches: Sequence[Match]) -> None:
        """Note a trace that was matched by its input only."""
        numbers = tuple(match.number for match in matches)
        self._by_input[numbers] = self._by_input.get(numbers, 0) + 1

    def row(
        self, match: Match, case: EvalCase, about: About, result: EvaluationResult, is_silent: bool
    ) -> None:
        """Count a row."""
        number, weak = match.number, match.weak
        if weak:
            self.summary.weak.append(len(self.summary.cases))
        if result.status in _RED and len(self.summary.red) < MOST_LISTED:
            self.summary.red.append(len(self.summary.cases))
        self.summary.cases.append(number)
        self._tags[number] = case.tags
        counts = self._groups.get((number, weak, *about))
        if counts is None:
            counts = self._groups[(number, weak, *about)] = Counts()
        counts.add(result, is_silent)

    def done(self) -> Summary:
        """The summary."""
        summary = self.summary
        with_verdict, without_baseline = set(), set()
        for (number, weak, model, day), counts in self._groups.items():
            sums = summary.sums_by_input.setdefault(number, Sums()) if weak else summary.sums
            sums.add(counts, self._tags[number], model, day)
            if not weak and counts.has_verdict:
                with_verdict.add(number)
            if not weak and counts.without_baseline:
                without_baseline.add(number)
        summary.by_input = [(list(numbers), count) for numbers, count in self._by_input.items()]
        summary.with_verdict = sorted(with_verdict)
        summary.without_baseline = sorted(without_baseline)
        return summary


def as_json(summary: Summary) -> bytes:
    """The summary as JSON."""
    return msgspec.json.encode(summary)


_decode = msgspec.json.Decoder(Summary).decode


def from_json(data: bytes) -> Summary:
    """The summary of which this is the JSON; ValueError if it is damaged."""
    return _decode(data)
