"""Record a bulk result as a run of a store, with its traces: for `show`, `compare`, `regrade`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from trialrun import __version__, pricing
from trialrun.engine.asked import asked_in
from trialrun.engine.bulk.chunks import Chunk
from trialrun.engine.bulk.part import Tallying
from trialrun.engine.bulk.work import Attempt as Matched
from trialrun.engine.bulk.work import Scorer, attempts_in
from trialrun.engine.plan import Planned, fingerprint
from trialrun.engine.run_lifecycle import directions
from trialrun.engine.stored_run import VARY
from trialrun.model.results import EvaluationResult
from trialrun.model.trace import Trace
from trialrun.store.records import Attempt, PlannedCase, RunRecord, RunState, new_run_id, spec_key

if TYPE_CHECKING:
    from trialrun.store.store import Store

_GROUP = 100


class Target(Struct, frozen=True):
    """The store to record in, and the spec as the user gave it: runs are found by it."""

    store: Store
    spec: str


class RunWriter:
    """Records a run while its rows are merged. Traces are read once more, and none is kept."""

    def __init__(self, target: Target, scorer: Scorer, most_attempts: int) -> None:
        self._store = target.store
        self._scorer = scorer
        self._waiting: list[Attempt] = []
        numbers = scorer.cases.planned
        self._positions = {number: position for position, number in enumerate(numbers)}
        now = datetime.now(UTC)
        self.record = RunRecord(
            id=new_run_id(now),
            spec=target.spec,
            spec_key=spec_key(target.spec),
            kind="score",
            created_at=now,
            planned=len(numbers),
            repeat=max(1, most_attempts),
            trialrun=__version__,
            settings={
                "prices": pricing.source(),
                "directions": directions(scorer.suites),
                VARY: True,
            },
        )
        self._store.create_run(self.record, self._plan(), scorer.redactor)

    def _plan(self) -> Iterator[PlannedCase]:
        for number, position in self._positions.items():
            suite, case = self._scorer.cases[number]
            yield PlannedCase(
                position=position, suite=suite.name, case=case.name, tags=tuple(case.tags)
            )

    def matched(self, chunk: Chunk) -> Iterator[Matched]:
        """The traces of the rows of a chunk, in their order."""
        return attempts_in(self._scorer, chunk, Tallying(chunk.number))

    def add(
        self,
        number: int,
        result: EvaluationResult,
        trace: Trace | None = None,
        baseline: Trace | None = None,
    ) -> None:
        """Record an attempt, soon."""
        suite, case = self._scorer.case(number)
        self._waiting.append(
            Attempt(
                position=self._positions[number],
                attempt=result.attempt,
                fingerprint=fingerprint(Planned(suite, None, case), baseline),
                result=result,
                trace=trace,
                asked=asked_in(case, baseline),
            )
        )
        if len(self._waiting) >= _GROUP:
            self._write()

    def _write(self) -> None:
        self._store.add(self.record.id, self._waiting, self._scorer.redactor)
        self._waiting.clear()

    def finish(self, warnings: list[str]) -> str:
        """Record the end; the id of the run."""
        self._write()
        now = datetime.now(UTC)
        self._store.finish(self.record.id, RunState.FINISHED, now, warnings, self._scorer.redactor)
        return self.record.id
