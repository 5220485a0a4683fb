"""Evaluate stored traces again with the current spec; no agent is called, no old run changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun import __version__
from trialrun.engine.asked import NOT_COMPARABLE, another_question, asked_in, difference
from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.case_results import completed
from trialrun.engine.evaluate import evaluate_async, run_coroutine
from trialrun.engine.judges import Judges, map_concurrently
from trialrun.engine.plan import Planned, Selection, fingerprint, make_plan
from trialrun.engine.run_lifecycle import directions, positions_of
from trialrun.engine.stored_run import CHANGED, STOPPED, AskedIn, stored_run
from trialrun.errors import PluginError, TrialrunError
from trialrun.model.asked import Asked
from trialrun.model.case import EvalCase, Suite
from trialrun.model.results import EvaluationResult, RunResult
from trialrun.model.trace import Trace
from trialrun.pricing import PriceBook
from trialrun.redaction import Redactor
from trialrun.store.records import Attempt, RunRecord, RunState, new_run_id, spec_key

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
    require_baseline: bool = False,
) -> RunResult:
    """Evaluate every attempt of a run again; the new verdicts are recorded as a new run."""
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
        origin={**source.origin, "trialrun": __version__} if source.origin else {},
    )
    redactor = Redactor([pattern for suite in suites for pattern in suite.redact]).plain
    store.create_run(record, store.plan(source.id), redactor)
    warnings = [text for text in source.warnings if text.startswith(STOPPED)]
    with store.hold(record.id):
        labels = {case.position: (case.suite, case.case) for case in store.plan(source.id)}
        regrader = Regrader(suites, labels, baselines, prices, warnings)
        regrader.require_baseline = require_baseline
        store.watch(record.id)
        try:
            # As in a live run: repeats show whether verdicts differ, so no cache.
            judges = Judges(suites, cached=judge_cache and source.repeat == 1, redactor=redactor)
            run_coroutine(_judge_together(store, source, record, regrader, judges, redactor))
        except PluginError:  # no verdict yet: an empty run must not become `latest`
            store.delete_runs([record.id], held=True)
            raise
        found = store.verify(record.id)
        if found:
            warnings.append(f"{CHANGED}{found}; these attempts have no verdict")
        complete = source.state is RunState.FINISHED and not found
        record.state = RunState.FINISHED if complete else RunState.STOPPED
        record.finished_at, record.warnings = datetime.now(UTC), list(dict.fromkeys(warnings))
        store.finish(record.id, record.state, record.finished_at, record.warnings, redactor)
    return stored_run(store, record)


async def _judge_together(
    store: Store,
    source: RunRecord,
    record: RunRecord,
    regrader: Regrader,
    judges: Judges,
    redactor: Callable[[Any], Any],
) -> None:
    """Evaluate concurrently, since any case may ask a judge."""

    async def judged(stored: Attempt) -> Attempt:
        return await regrader.attempt(stored, judges)

    attempts = store.attempts(source.id)
    asked = AskedIn(store, source)
    async with judges:
        while group := list(islice(attempts, _GROUP)):
            regrader.asked = asked.of(group)
            store.add(
                record.id, await map_concurrently(group, judged, judges.concurrency), redactor
            )


def _renamed_suite(
    labels: Mapping[int, tuple[str, str]], present: set[str]
) -> Mapping[int, tuple[str, str]]:
    """Suites are named after their files. If both have exactly one, the file was renamed."""
    recorded = {suite for suite, _ in labels.values()}
    if len(recorded) != 1 or len(present) != 1 or recorded == present:
        return labels
    (name,) = present
    return {position: (name, case) for position, (_, case) in labels.items()}


class MatchedTrace(Struct, frozen=True):
    """A stored trace with the case and the baseline of the current spec."""

    planned: Planned
    trace: Trace
    baseline: Trace | None


class Regrader:
    """Evaluates stored attempts with the cases of the current spec."""

    def __init__(
        self,
        suites: Sequence[Suite],
        labels: Mapping[int, tuple[str, str]],
        baselines: Path | None,
        prices: PriceBook | None,
        warnings: list[str],
    ) -> None:
        self.asked: Mapping[str, Asked] = {}
        """What the attempts were asked, by fingerprint, as far as that was recorded."""
        self.plan = make_plan(suites, Selection())
        places = positions_of(self.plan)
        self.labels = _renamed_suite(labels, {suite for suite, _, _ in places})
        self.places = {(suite, case): position for (suite, _, case), position in places.items()}
        self.baselines = Baselines(baselines)
        self.prices = prices
        self.require_baseline = False
        self.warnings = warnings

    async def attempt(self, stored: Attempt, judges: Judges) -> Attempt:
        """The same attempt with the verdict of the current spec."""
        matched = self.match(stored)
        if isinstance(matched, str):
            return self._without_verdict(stored, matched)
        judge = judges.of(matched.planned.suite)
        try:
            result = await evaluate_async(
                matched.planned.case, matched.trace, matched.baseline, judge=judge
            )
        except TrialrunError as error:  # a model that cannot be used, as in a live run
            return self._without_verdict(stored, str(error))
        return self._with(stored, matched, result)

    def match(self, stored: Attempt) -> MatchedTrace | str:
        """The case and baseline for an attempt, or the reason why there is none."""
        place = self.places.get(self.labels[stored.position])
        if place is None:
            return "the spec no longer has this case"
        if stored.trace is None:
            return stored.result.error or "no trace was recorded"
        suite = self.plan[place].suite
        case = self.plan[place].case.with_options(self.prices, self.require_baseline)
        wrong = self._another_question(suite, case, stored, stored.trace)
        if wrong is not None:
            return wrong
        agent = next((one for one in suite.agents if one.name == stored.result.agent), None)
        try:
            baseline = self.baselines.find(suite, case, self.warnings)
        except TrialrunError as error:
            return str(error)
        return MatchedTrace(Planned(suite, agent, case), stored.trace, baseline)

    def _another_question(
        self, suite: Suite, case: EvalCase, stored: Attempt, trace: Trace
    ) -> str | None:
        """Why the stored answer is not one to the question of the spec, or None.

        Other checks are what regrading is for; an answer to another question stays one.
        """
        then = self.asked.get(stored.fingerprint)
        if then is None:  # a run of 0.1: all that is known is what the trace says
            named = case.trace is not None
            return None if named else another_question(suite, case, trace, "the stored run")
        found = difference(then, asked_in(case)).question
        if found is None or suite.match is not None:
            return None
        return f"{NOT_COMPARABLE}the stored run answers another question: {found}"

    def _with(self, stored: Attempt, matched: MatchedTrace, result: EvaluationResult) -> Attempt:
        planned = matched.planned
        result.agent = stored.result.agent
        completed(result, planned.suite, stored.attempt)
        asked = fingerprint(planned, matched.baseline)
        then = asked_in(planned.case, matched.baseline)
        return replace(stored, fingerprint=asked, result=result, asked=then)

    def _without_verdict(self, stored: Attempt, reason: str) -> Attempt:
        """The attempt without a verdict: every planned attempt is reported."""
        return replace(stored, fingerprint="", result=stored.result.withdrawn(reason))
