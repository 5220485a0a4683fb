"""Stored traces judged again by the present spec: no agent is called, nothing old is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun import __version__
from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.case_results import completed
from trialrun.engine.evaluate import evaluate_async, run_coroutine
from trialrun.engine.judges import Judges, in_order
from trialrun.engine.plan import Planned, Selection, fingerprint, make_plan
from trialrun.engine.run_lifecycle import directions, positions_of, spec_key
from trialrun.engine.stored_run import STOPPED, stored_run
from trialrun.errors import PluginError, TrialrunError
from trialrun.model.case import Suite
from trialrun.model.results import EvaluationResult, RunResult
from trialrun.model.trace import Trace
from trialrun.pricing import PriceBook
from trialrun.redaction import Redactor
from trialrun.store.records import Attempt, RunRecord, RunState, new_run_id

if TYPE_CHECKING:
    from trialrun.store.store import Store

_GROUP = 100


def regrade(
    store: Store,
    source: RunRecord,
    spec: str,
    suites: Sequence[Suite],
    baselines: Path | None = None,
    prices: PriceBook | None = None,
    judge_cache: bool = True,
) -> RunResult:
    """Judge every attempt of a run again; the new verdicts are a run of their own."""
    now = datetime.now(UTC)
    record = RunRecord(
        id=new_run_id(now),
        spec=spec,
        spec_key=spec_key(spec),
        kind="regrade",
        source=source.id,
        created_at=now,
        planned=source.planned,
        repeat=source.repeat,
        trialrun=__version__,
        settings={**source.settings, "directions": directions(suites)},
    )
    redactor = Redactor([pattern for suite in suites for pattern in suite.redact]).plain
    store.create_run(record, store.plan(source.id), redactor)
    warnings = [text for text in source.warnings if text.startswith(STOPPED)]
    with store.hold(record.id):
        labels = {case.position: (case.suite, case.case) for case in store.plan(source.id)}
        again = Again(suites, labels, baselines, prices, warnings)
        try:
            # As in a live run: repeats are there to see whether verdicts differ.
            judges = Judges(suites, cached=judge_cache and source.repeat == 1, redactor=redactor)
            run_coroutine(_judge_together(store, source, record, again, judges, redactor))
        except PluginError:  # before the first verdict: a run without anything would be `latest`
            store.delete_runs([record.id], held=True)
            raise
        record.state = source.state if source.state is not RunState.RUNNING else RunState.STOPPED
        record.finished_at, record.warnings = datetime.now(UTC), list(dict.fromkeys(warnings))
        store.finish(record.id, record.state, record.finished_at, record.warnings, redactor)
    return stored_run(store, record)


async def _judge_together(
    store: Store,
    source: RunRecord,
    record: RunRecord,
    again: Again,
    judges: Judges,
    redactor: Callable[[Any], Any],
) -> None:
    """Many at once, since a judge may be asked: rubrics may stand behind any row of a table."""

    async def judged(stored: Attempt) -> Attempt:
        return await again.attempt(stored, judges)

    attempts = store.attempts(source.id)
    async with judges:
        while group := list(islice(attempts, _GROUP)):
            store.add(record.id, await in_order(group, judged, judges.at_once), redactor)


def _in_one_suite(
    labels: Mapping[int, tuple[str, str]], present: set[str]
) -> Mapping[int, tuple[str, str]]:
    """A suite is named like its file. Where both have one, another file is meant to judge it."""
    recorded = {suite for suite, _ in labels.values()}
    if len(recorded) != 1 or len(present) != 1 or recorded == present:
        return labels
    (name,) = present
    return {position: (name, case) for position, (_, case) in labels.items()}


class Held(Struct, frozen=True):
    """A stored trace, and what it is held against now."""

    planned: Planned
    trace: Trace
    baseline: Trace | None


class Again:
    """Judges stored attempts by the cases of the present spec."""

    def __init__(
        self,
        suites: Sequence[Suite],
        labels: Mapping[int, tuple[str, str]],
        baselines: Path | None,
        prices: PriceBook | None,
        warnings: list[str],
    ) -> None:
        self.plan = make_plan(suites, Selection())
        places = positions_of(self.plan)
        self.labels = _in_one_suite(labels, {suite for suite, _, _ in places})
        self.places = {(suite, case): position for (suite, _, case), position in places.items()}
        self.baselines = Baselines(baselines)
        self.prices = prices
        self.warnings = warnings

    async def attempt(self, stored: Attempt, judges: Judges) -> Attempt:
        """The same attempt with the verdict that the present spec gives it."""
        found = self.found(stored)
        if isinstance(found, str):
            return self._without_verdict(stored, found)
        judge = judges.of(found.planned.suite)
        try:
            result = await evaluate_async(
                found.planned.case, found.trace, found.baseline, judge=judge
            )
        except TrialrunError as error:  # a model that cannot be used, as in a live run
            return self._without_verdict(stored, str(error))
        return self._with(stored, found, result)

    def found(self, stored: Attempt) -> Held | str:
        """What an attempt is held against, or why it cannot be."""
        place = self.places.get(self.labels[stored.position])
        if place is None:
            return "the case is no longer in the spec"
        if stored.trace is None:
            return stored.result.error or "no trace was recorded"
        suite, case = self.plan[place].suite, self.plan[place].case
        if self.prices is not None:
            case = replace(case, prices=self.prices)
        agent = next((one for one in suite.agents if one.name == stored.result.agent), None)
        try:
            baseline = self.baselines.find(suite, case, self.warnings)
        except TrialrunError as error:
            return str(error)
        return Held(Planned(suite, agent, case), stored.trace, baseline)

    def _with(self, stored: Attempt, found: Held, result: EvaluationResult) -> Attempt:
        planned = found.planned
        result.agent = stored.result.agent
        completed(result, planned.suite, planned.case, found.trace, stored.attempt)
        asked = fingerprint(planned, found.baseline)
        return replace(stored, fingerprint=asked, result=result)

    def _without_verdict(self, stored: Attempt, reason: str) -> Attempt:
        """It keeps its place in the report: planned equals reported."""
        return replace(stored, fingerprint="", result=stored.result.withdrawn(reason))
