"""A run as it stands in a store: every planned case has its place, whether it was run or not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from trialrun.engine.stability import stabilities
from trialrun.results import LAYERS, EvaluationResult, LayerResult, LayerStatus, RunResult
from trialrun.store.records import PlannedCase, RunRecord, RunState
from trialrun.trace import Trace

if TYPE_CHECKING:
    from trialrun.store.store import Store

_SKIPPED = LayerResult(LayerStatus.SKIP)
STOPPED = "stopped: "
"""How the warning of a run begins that was ended before all of it was run."""


def stored_run(store: Store, record: RunRecord) -> RunResult:
    """The run for a report. Its results are read from the store each time they are gone through."""
    return RunResult(
        results=StoredResults(store, record),
        planned=record.planned,
        warnings=list(record.warnings),
        run_id=record.id,
        stability=stabilities(store, record) if record.repeat > 1 else (),
    )


class StoredResults(Collection[EvaluationResult]):
    """The results of a stored run in the order of its plan; what was not run is an ERROR."""

    def __init__(self, store: Store, record: RunRecord) -> None:
        self._store = store
        self._record = record
        self._numbers = wanted_attempts(record)
        recorded = store.recorded(record.id)
        made = sum(len(attempts) for attempts in recorded.values())
        missing = sum(
            len(self._numbers - {attempt for attempt, _ in recorded.get(position, ())})
            for position in range(record.planned)
        )
        self._size = made + missing

    def __len__(self) -> int:
        return self._size

    def __contains__(self, result: object) -> bool:
        return any(result == other for other in self)

    def __iter__(self) -> Iterator[EvaluationResult]:
        return (result for result, _ in with_missing(self._store, self._record, traces=False))


def with_missing(
    store: Store, record: RunRecord, traces: bool
) -> Iterator[tuple[EvaluationResult, Trace | None]]:
    """Every attempt in the order of the plan; one that was not made is an ERROR that says why."""
    made = store.attempts(record.id, traces=traces)
    attempt = next(made, None)
    numbers = wanted_attempts(record)
    for case in store.plan(record.id):
        missing = set(numbers)
        while attempt is not None and attempt.position == case.position:
            missing.discard(attempt.attempt)
            yield attempt.result, attempt.trace
            attempt = next(made, None)
        for number in sorted(missing):
            yield _not_run(record, case, number), None


def _not_run(record: RunRecord, case: PlannedCase, attempt: int) -> EvaluationResult:
    return EvaluationResult(
        case_name=case.case,
        suite_name=case.suite,
        agent=case.agent,
        attempt=attempt,
        tags=case.tags,
        status=LayerStatus.ERROR,
        layers=dict.fromkeys(LAYERS, _SKIPPED),
        metrics=[],
        error=f"not run: {_why(record)}",
    )


def wanted_attempts(record: RunRecord) -> frozenset[int]:
    """The numbers of the attempts that every case of the run must have."""
    until_decided = record.settings.get("until_decided") is not None
    return frozenset({1} if until_decided else range(1, record.repeat + 1))


def _why(record: RunRecord) -> str:
    reasons = [text for text in record.warnings if text.startswith(STOPPED)]
    if reasons:
        return reasons[-1].removeprefix(STOPPED)
    return "the run was cut off" if record.state is RunState.RUNNING else "the run was stopped"
