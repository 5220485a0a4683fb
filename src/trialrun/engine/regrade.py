"""Stored traces judged again by the present spec: no agent is called, nothing old is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from trialrun import __version__
from trialrun.engine.baselines import Baselines
from trialrun.engine.evaluate import evaluate
from trialrun.engine.plan import Planned, fingerprint
from trialrun.engine.runs import directions, spec_key
from trialrun.engine.score import complete_result, error_result
from trialrun.engine.stored import STOPPED, stored_run
from trialrun.errors import TrialrunError
from trialrun.redaction import Redactor
from trialrun.results import LAYERS, EvaluationResult, LayerResult, LayerStatus, RunResult
from trialrun.store.records import Attempt, RunRecord, RunState, new_run_id
from trialrun.test_case import EvalCase, LazyCases, Suite

if TYPE_CHECKING:
    from trialrun.store.store import Store

_GROUP = 100


def regrade(
    store: Store,
    source: RunRecord,
    spec: str,
    suites: Sequence[Suite],
    baselines: Path | None = None,
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
        again = _Again(suites, baselines, redactor, warnings)
        attempts = map(again.attempt, store.attempts(source.id))
        while group := list(islice(attempts, _GROUP)):
            store.add(record.id, group, redactor)
        record.state = source.state if source.state is not RunState.RUNNING else RunState.STOPPED
        record.finished_at, record.warnings = datetime.now(UTC), list(dict.fromkeys(warnings))
        store.finish(record.id, record.state, record.finished_at, record.warnings, redactor)
    return stored_run(store, record)


class _Again:
    """Judges stored attempts by the cases of the present spec."""

    def __init__(
        self,
        suites: Sequence[Suite],
        baselines: Path | None,
        redact: Callable[[Any], Any],
        warnings: list[str],
    ) -> None:
        # By the names as they are recorded: a secret in one is a mask there.
        self.places = {
            tuple(redact([suite.name, name])): (suite, index)
            for suite in suites
            for index, name in enumerate(_names(suite.cases))
        }
        self.baselines = Baselines(baselines)
        self.warnings = warnings

    def attempt(self, stored: Attempt) -> Attempt:
        """The same attempt with the verdict that the present spec gives it."""
        before = stored.result
        place = self.places.get((before.suite_name or "", before.case_name))
        if place is None:
            return self._without_verdict(stored, "the case is no longer in the spec")
        if stored.trace is None:
            return self._without_verdict(stored, before.error or "no trace was recorded")
        suite, index = place
        case = suite.cases[index]
        spec = next((agent for agent in suite.agents if agent.name == before.agent), None)
        asked = fingerprint(Planned(suite, spec, case))
        return replace(stored, fingerprint=asked, result=self._judge(suite, case, stored))

    def _judge(self, suite: Suite, case: EvalCase, stored: Attempt) -> EvaluationResult:
        assert stored.trace is not None
        try:
            baseline = self.baselines.find(suite, case, self.warnings)
            result = evaluate(case, stored.trace, baseline)
        except TrialrunError as error:
            result = error_result(suite, case, str(error))
        result.agent = stored.result.agent
        return complete_result(result, suite, case, stored.trace, stored.attempt)

    def _without_verdict(self, stored: Attempt, reason: str) -> Attempt:
        """It keeps its place in the report: planned equals reported."""
        layers = dict.fromkeys(LAYERS, LayerResult(LayerStatus.SKIP))
        result = replace(
            stored.result, status=LayerStatus.ERROR, layers=layers, metrics=[], error=reason
        )
        return replace(stored, fingerprint="", result=result)


def _names(cases: Sequence[EvalCase]) -> Iterator[str]:
    if isinstance(cases, LazyCases):
        return (name for name, _ in cases.labels())
    return (case.name for case in cases)
