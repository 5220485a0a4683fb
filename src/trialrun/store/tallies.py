"""Sums over the attempts of runs, and the plain columns of attempts: read without any record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct

from trialrun.store.backends.base import Database
from trialrun.store.codec import original_text
from trialrun.store.migrations import FIGURES, TALLIES_TABLE
from trialrun.store.records import PlannedCase
from trialrun.store.rows import SELECT_PLANNED, chunks, planned_case

_AT_ONCE = 500  # values in one query


class Figure(Struct, frozen=True):
    """The sum over the attempts that have a value, and how many have one."""

    total: float = 0.0
    known: int = 0

    @property
    def mean(self) -> float | None:
        """The mean over the attempts that have a value; None without any."""
        return self.total / self.known if self.known else None

    def plus(self, other: Figure) -> Figure:
        """The sum of both."""
        return Figure(self.total + other.total, self.known + other.known)


class RunTally(Struct):
    """The sums over the attempts of one run."""

    statuses: dict[str, int] = {}
    cost: Figure = Figure()
    tokens: Figure = Figure()
    duration: Figure = Figure()

    @property
    def attempts(self) -> int:
        """How many attempts there are."""
        return sum(self.statuses.values())

    @property
    def passes(self) -> int:
        """Attempts that passed, with or without a warning."""
        return self.statuses.get("pass", 0) + self.statuses.get("warn", 0)

    @property
    def judged(self) -> int:
        """Attempts with a verdict."""
        return self.passes + self.statuses.get("fail", 0)

    @property
    def rate(self) -> float | None:
        """The share of the attempts with a verdict that passed; None without any."""
        return self.passes / self.judged if self.judged else None


class AttemptFigures(Struct, frozen=True, gc=False):
    """The plain columns of one attempt; `size` is that of its compressed trace."""

    position: int
    attempt: int
    status: str
    error: str | None
    cost: float | None
    tokens: float | None
    duration: float | None
    size: int


class Tallies:
    """Reads sums and plain columns of runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, run_ids: Collection[str]) -> dict[str, RunTally]:
        """The sums of these runs; without any attempt, an empty tally."""
        found = {run_id: RunTally({}) for run_id in run_ids}
        names = ", ".join(f"{name}, {name}_known" for name in FIGURES)
        for group in chunks(iter(sorted(found)), _AT_ONCE):
            query = (
                f"SELECT run_id, status, attempts, {names} FROM {TALLIES_TABLE}"
                f" WHERE attempts > 0 AND run_id IN ({', '.join('?' * len(group))})"
            )
            with self._database.reading() as connection:
                rows = connection.rows(query, group)
            for run_id, status, attempts, *sums in rows:
                tally = found[run_id]
                tally.statuses[str(status)] = attempts
                tally.cost = tally.cost.plus(_figure(sums[0:2]))
                tally.tokens = tally.tokens.plus(_figure(sums[2:4]))
                tally.duration = tally.duration.plus(_figure(sums[4:6]))
        return found

    def attempts(self, run_id: str) -> list[AttemptFigures]:
        """The plain columns of every attempt of a run, by position and number."""
        length = self._database.length_of
        query = (
            "SELECT position, attempt, status, error, cost_usd, total_tokens, duration_ms,"
            f" coalesce({length}(trace), 0) FROM trialrun_attempts WHERE run_id = ?"
            " ORDER BY position, attempt"
        )
        with self._database.reading() as connection:
            rows = connection.rows(query, [run_id])
        return [
            AttemptFigures(position, attempt, status, error and original_text(error), *figures)
            for position, attempt, status, error, *figures in rows
        ]

    def planned(self, run_id: str, positions: Collection[int]) -> list[PlannedCase]:
        """The planned cases at these positions, in order."""
        found: list[PlannedCase] = []
        for group in chunks(iter(sorted(set(positions))), _AT_ONCE):
            marks = ", ".join("?" * len(group))
            query = f"{SELECT_PLANNED} WHERE run_id = ? AND position IN ({marks}) ORDER BY position"
            with self._database.reading() as connection:
                found += [planned_case(row) for row in connection.rows(query, [run_id, *group])]
        return found


def _figure(pair: Sequence[Any]) -> Figure:
    return Figure(float(pair[0]), int(pair[1]))
