"""Read a run from the store: every planned case is in it, whether it was run or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trialrun.engine.stability import Rejudged, stabilities
from trialrun.measures.stability import decided
from trialrun.model.asked import Asked
from trialrun.model.attempts import Recorded
from trialrun.model.results import EvaluationResult, RunResult
from trialrun.model.trace import Trace
from trialrun.store.records import VERIFY, Attempt, PlannedCase, RunRecord, RunState

if TYPE_CHECKING:
    from trialrun.store.store import Store


class AskedIn:
    """What was asked in attempts of a stored run. Only that of the last ones is kept."""

    def __init__(self, store: Store, record: RunRecord) -> None:
        self._store = store
        self._id = record.id
        self._known: Mapping[str, Asked] = {}
        self._wanted: frozenset[str] = frozenset()

    def of(self, attempts: Iterable[Attempt]) -> Mapping[str, Asked]:
        """By fingerprint; empty for runs of version 0.1."""
        wanted = frozenset(attempt.fingerprint for attempt in attempts)
        if not wanted <= self._wanted:
            self._known, self._wanted = self._store.asked(self._id, wanted), wanted
        return self._known


NOT_RUN = "not run: "
"""Prefix of the error of an attempt that was not made."""

STOPPED = "stopped: "
"""Prefix of the warning of a run that was stopped early."""

VARY = "attempts_vary"
"""Key in the settings of a run of recorded traces: cases have as many attempts as traces."""

CHANGED = "the record of this run was changed while it ran: "
"""Prefix of the warning of a run whose record is not what it wrote."""


def stored_run(
    store: Store,
    record: RunRecord,
    rejudged: Rejudged | None = None,
    *,
    with_stability: bool = True,
) -> RunResult:
    """The run for a report. Its results are read from the store at each iteration.

    `rejudged` holds the verdicts that show the source of flips. Stability takes every trace of a
    repeated run, and is left out without `with_stability`.
    """
    repeated = with_stability and record.repeat > 1
    return RunResult(
        results=StoredResults(store, record),
        planned=record.planned,
        warnings=[*record.warnings, *_why_incomplete(store, record)],
        run_id=record.id,
        prices=record.settings.get("prices"),
        stability=stabilities(store, record, rejudged) if repeated else (),
        incomplete=record.state is not RunState.FINISHED,
        origin=record.origin,
        sessions=record.kind == VERIFY,
    )


def _why_incomplete(store: Store, record: RunRecord) -> list[str]:
    """Why the run has not passed, even if every attempt in its record has."""
    known = any(text.startswith((STOPPED, CHANGED)) for text in record.warnings)
    if known or record.state is RunState.FINISHED:
        return []
    return [f"this run is not finished: {_why(store, record)}"]


class StoredResults(Collection[EvaluationResult]):
    """The results of a stored run in the order of its plan; one that was not run is an ERROR."""

    def __init__(self, store: Store, record: RunRecord) -> None:
        self._store = store
        self._record = record
        self._size = planned_size(record, store.made(record.id))

    def __len__(self) -> int:
        return self._size

    def __contains__(self, result: object) -> bool:
        return any(result == other for other in self)

    def __iter__(self) -> Iterator[EvaluationResult]:
        return (result for result, _ in with_missing(self._store, self._record, traces=False))

    def attempts(self) -> Iterator[Recorded]:
        """Every result with its trace."""
        found = with_missing(self._store, self._record, traces=True)
        return ((result, trace, None) for result, trace in found)


def with_missing(
    store: Store,
    record: RunRecord,
    traces: bool,
    cases: Sequence[PlannedCase] | None = None,
) -> Iterator[tuple[EvaluationResult, Trace | None]]:
    """Every attempt in the order of the plan; one that was not made is an ERROR with a reason.

    With `cases`, only the attempts at these, which are in the order of the plan, too.
    """
    positions = None if cases is None else [case.position for case in cases]
    made = store.attempts(record.id, positions, traces=traces)
    attempt = next(made, None)
    for case in store.plan(record.id) if cases is None else cases:
        seen = []
        while attempt is not None and attempt.position == case.position:
            seen.append((attempt.attempt, attempt.result.status.value))
            yield attempt.result, attempt.trace
            attempt = next(made, None)
        for number in missing_attempts(record, seen):
            yield _not_run(case, number, _why(store, record)), None


def _not_run(case: PlannedCase, attempt: int, why: str) -> EvaluationResult:
    return EvaluationResult.without_verdict(
        case.case,
        f"{NOT_RUN}{why}",
        suite_name=case.suite,
        agent=case.agent,
        attempt=attempt,
        tags=case.tags,
    )


def wanted_attempts(record: RunRecord) -> frozenset[int]:
    """The numbers of the attempts that every case of the run must have."""
    # Recorded traces are as many as there are: cases need not have equal numbers of them.
    varies = record.settings.get("until_decided") is not None or record.settings.get(VARY)
    return frozenset({1} if varies else range(1, record.repeat + 1))


def missing_attempts(record: RunRecord, made: Collection[tuple[int, str]]) -> list[int]:
    """The numbers of the attempts that a case still needs, given those that it has.

    If the run was stopped before the pass rate of a case was decided, the case needs one more:
    otherwise a run that was stopped after one lucky attempt at each case would pass.
    """
    numbers = {attempt for attempt, _ in made}
    required = record.settings.get("until_decided")
    if required is not None and numbers and record.state is not RunState.FINISHED:
        if is_decided([status for _, status in made], required) or len(made) >= record.repeat:
            return []
        return [max(numbers) + 1]
    return sorted(wanted_attempts(record) - numbers)


Made = Iterable[tuple[int, Collection[tuple[int, str]]]]
"""Positions, each once, with the numbers and statuses of the attempts that were made there."""


def planned_size(record: RunRecord, made: Made) -> int:
    """How many attempts the run has and still needs, at least."""
    wanted = len(wanted_attempts(record))
    size = record.planned * wanted
    for _, attempts in made:
        size += len(attempts) + len(missing_attempts(record, attempts)) - wanted
    return size


def is_decided(statuses: Sequence[str], required: float) -> bool:
    """Whether the statuses decide if the case's pass rate is above or below the required one."""
    passes = sum(status in ("pass", "warn") for status in statuses)
    return decided(passes, passes + statuses.count("fail"), required) is not None


def _why(store: Store, record: RunRecord) -> str:
    reasons = [text for text in record.warnings if text.startswith(STOPPED)]
    if reasons:
        return reasons[-1].removeprefix(STOPPED)
    if record.state is not RunState.RUNNING:
        return "the run was stopped"
    return "the run is still in progress" if store.is_held(record.id) else "the run was cut off"


def state_of(store: Store, record: RunRecord) -> str:
    """The state in words; a running run without a writing process was cut off."""
    if record.state is RunState.RUNNING and not store.is_held(record.id):
        return "cut off"
    return record.state.value
