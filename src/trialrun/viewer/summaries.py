"""What the list of a run needs of its cases: read from plain columns, and kept while it is valid.

A run of a million attempts is read once; until another attempt is recorded, nothing of it changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, islice
from math import fsum
from typing import Any, TypeVar

from msgspec import Struct

from trialrun.engine.stored_run import missing_attempts, state_of, stored_run
from trialrun.model.results import CheckStatus, EvaluationResult, LayerStatus, Tally
from trialrun.reports.pages.case_page import word_of_statuses
from trialrun.reports.pages.rows import LONGEST_QUESTION
from trialrun.reports.pages.run_page import RunHead, head_of
from trialrun.store.records import RunRecord
from trialrun.store.store import Store
from trialrun.store.tallies import AttemptFigures, RunTally

MOST_READ = 3000
"""Attempts of a run whose results are read for its head: beyond, unknown checks are not counted."""

_KEPT = 16
_PENDING = "skip"

Made = TypeVar("Made")


class CaseLine(Struct, frozen=True, gc=False):
    """One case: its statuses, the means of its figures, and the bytes of its traces."""

    position: int
    word: str
    statuses: Sequence[str]
    made: int
    error: str
    cost: float | None
    tokens: float | None
    time: float | None
    size: int


class Summary(Struct, frozen=True, kw_only=True):
    """A run and its cases in the order of the plan."""

    record: RunRecord
    state: str
    version: str
    tally: RunTally
    cases: Sequence[CaseLine]

    @property
    def live(self) -> bool:
        """Whether a process is writing the run."""
        return self.state == "running"


class Cache:
    """Keeps what was made last, by key; each is made once, even if several ask for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def get(self, kind: str, key: str, make: Callable[[], Made]) -> Made:
        """What was made for this key, or what `make` makes now."""
        with self._lock:
            if (kind, key) in self._found:
                self._found.move_to_end((kind, key))
                kept: Made = self._found[kind, key]
                return kept
        made = make()
        with self._lock:
            self._found[kind, key] = made
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return made


def version_of(record: RunRecord, state: str, tally: RunTally) -> str:
    """What changes as soon as the run does."""
    ended = "" if record.finished_at is None else record.finished_at.isoformat()
    return f"{record.id} {state} {tally.attempts} {ended}"


def summary_of(store: Store, record: RunRecord, cache: Cache) -> Summary:
    """The summary of a run as it is now."""
    state = state_of(store, record)
    tally = store.tallies.of([record.id])[record.id]
    version = version_of(record, state, tally)

    def read() -> Summary:
        cases = _lines(store, record, state == "running")
        return Summary(record=record, state=state, version=version, tally=tally, cases=cases)

    return cache.get("summary", version, read)


def _lines(store: Store, record: RunRecord, live: bool) -> list[CaseLine]:
    rows = groupby(store.tallies.attempts(record.id), key=lambda row: row.position)
    made = {position: list(group) for position, group in rows}
    return [
        _line(record, position, made.get(position, []), live) for position in range(record.planned)
    ]


def _line(record: RunRecord, position: int, made: Sequence[AttemptFigures], live: bool) -> CaseLine:
    missing = missing_attempts(record, [(one.attempt, one.status) for one in made])
    statuses = [one.status for one in made]
    statuses += [_PENDING if live else LayerStatus.ERROR.value] * len(missing)
    return CaseLine(
        position,
        word_of_statuses(statuses),
        statuses,
        len(made),
        next((one.error for one in made if one.error), ""),
        _mean([one.cost for one in made]),
        _mean([one.tokens for one in made]),
        _mean([one.duration for one in made]),
        sum(one.size for one in made),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known and len(known) == len(values) else None


class Details(Struct, frozen=True):
    """The first screen of a run, and what its results say of each case that has something to say.

    `reasons` are searched, and have the questions, too; `unknown` counts the checks of a case
    without evidence.
    """

    head: RunHead
    reasons: Mapping[int, str]
    unknown: Mapping[int, int]


def details_of(store: Store, summary: Summary, cache: Cache) -> Details:
    """The details of a run as it is now; of a long one by the sums of the store alone."""
    return cache.get("details", summary.version, lambda: _details(store, summary))


def _details(store: Store, summary: Summary) -> Details:
    run = stored_run(store, summary.record, with_stability=False)
    reasons: dict[int, str] = {}
    unknown: dict[int, int] = {}
    if summary.tally.attempts > MOST_READ or summary.live:
        run.counted = _counted(summary)
    else:
        run.counted = Tally()
        results = iter(run.results)
        for case in summary.cases:
            for result in islice(results, len(case.statuses)):
                run.counted.add(result)
                silent = [one for _, one in result.checks() if one.status is CheckStatus.UNKNOWN]
                if silent:
                    unknown[case.position] = unknown.get(case.position, 0) + len(silent)
                before = reasons.get(case.position, "")
                reasons[case.position] = f"{before} {_searched(result)}"
    return Details(head_of(run, summary.cases), reasons, unknown)


def _searched(result: EvaluationResult) -> str:
    failed = [
        f"{check.name} {check.message}"
        for _, check in result.checks()
        if check.status in (CheckStatus.FAIL, CheckStatus.UNKNOWN)
    ]
    return " ".join(((result.question or "")[:LONGEST_QUESTION], result.error or "", *failed))


def _counted(summary: Summary) -> Tally:
    tally, sums = Tally(), summary.tally
    missing = sum(len(case.statuses) - case.made for case in summary.cases)
    for word, count in sums.statuses.items():
        tally.statuses[LayerStatus(word)] = count
    without = LayerStatus.SKIP if summary.live else LayerStatus.ERROR
    tally.statuses[without] += missing
    tally.attempts = sums.attempts + missing
    tally.cases = len(summary.cases)
    tally.known_cost_usd = sums.cost.total if sums.cost.known else None
    tally.has_unknown_cost = sums.cost.known < tally.attempts
    whole = sums.tokens.known == tally.attempts
    tally.total_tokens = round(sums.tokens.total) if whole else None
    return tally
