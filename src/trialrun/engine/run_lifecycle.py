"""Runs begun, resumed and judged again: what goes on around a live run."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun import __version__, pricing
from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.live_run import LiveRun, Observer, RunSettings
from trialrun.engine.plan import RunPlan, fingerprint, redactor_for
from trialrun.engine.stored_run import (
    STOPPED,
    count_missing,
    missing_attempts,
    stored_run,
    wanted_attempts,
)
from trialrun.errors import (
    NothingSelected,
    PluginError,
    StoreError,
    StoreWriteError,
    TraceError,
    UsageError,
)
from trialrun.metrics.base import DEFAULT_METRICS
from trialrun.model.case import Suite
from trialrun.model.results import JudgeSpend, RunResult
from trialrun.spec.agents import ways_to_call
from trialrun.store.records import PlannedCase, RunRecord, RunState, new_run_id

if TYPE_CHECKING:
    from trialrun.store.store import Store


_RUNS_LOOKED_AT = 50


class Beginning(Struct, kw_only=True):
    """A run that is about to go: new, or an unfinished one with what it has."""

    record: RunRecord
    plan: RunPlan
    recorded: dict[int, list[tuple[int, str]]]
    left: int

    @property
    def done(self) -> int:
        """How many attempts have their verdict already."""
        return sum(len(attempts) for attempts in self.recorded.values())


def spec_key(path: str | Path) -> str:
    """The name by which the runs of a spec are found again, from whichever folder it is given."""
    return str(Path(path).resolve())


def begin(
    store: Store,
    spec: str,
    suites: Sequence[Suite],
    plan: RunPlan,
    settings: RunSettings,
    given: Mapping[str, Any] | None = None,
) -> Beginning:
    """Record a new run with all that it plans: said before the first agent is called.

    `given` is what the command line said that decides verdicts: a resumed run needs it again.
    """
    require_agents(plan)
    now = datetime.now(UTC)
    record = RunRecord(
        id=new_run_id(now),
        spec=spec,
        spec_key=spec_key(spec),
        created_at=now,
        planned=len(plan),
        repeat=settings.repeat,
        trialrun=__version__,
        settings={
            "jobs": settings.jobs,
            "until_decided": settings.until_decided,
            "given": dict(given or {}),
            "prices": pricing.source(),
            "directions": directions(suites),
        },
    )
    store.create_run(record, planned_cases(plan), redactor_for(plan).plain)
    return Beginning(
        record=record, plan=plan, recorded={}, left=len(plan) * len(wanted_attempts(record))
    )


def planned_cases(plan: RunPlan) -> Iterator[PlannedCase]:
    """The plan as it is recorded."""
    for position, (suite, agent, case, tags) in enumerate(recorded_labels(plan)):
        yield PlannedCase(position=position, suite=suite, agent=agent, case=case, tags=tags)


def recorded_labels(plan: RunPlan) -> Iterator[tuple[str, str | None, str, Sequence[str]]]:
    """Suite, agent, name and tags of each case as they are recorded, and found again.

    Secrets in names are masked. Two names that a mask makes equal are numbered: one would be taken
    for the other when the run is resumed.
    """
    redact = redactor_for(plan).plain
    masked: Counter[tuple[str, str | None, str]] = Counter()
    for label in plan.labels():
        suite, agent, case, tags = redact(list(label))
        if (suite, agent, case) != label[:3]:
            masked[suite, agent, case] += 1
            if masked[suite, agent, case] > 1:
                case = f"{case} ({masked[suite, agent, case]})"
        yield suite, agent, case, tags


def positions_of(plan: RunPlan) -> dict[tuple[str, str | None, str], int]:
    """Where each case stands in the plan, by its label as it is recorded."""
    labels = enumerate(recorded_labels(plan))
    return {(suite, agent, case): position for position, (suite, agent, case, _) in labels}


def require_agents(plan: RunPlan) -> None:
    """Every case needs an agent, or a recorded trace: said before anything is called."""
    for suite, agent in plan.pairs():
        if agent is None and any(plan[at].case.trace is None for at in plan.positions_in(suite)):
            raise UsageError(
                f"{suite.file}: the spec names no agent to run: give {ways_to_call()}, "
                "or `agents` (recorded traces are judged by `trialrun score`)"
            )


def directions(suites: Sequence[Suite]) -> dict[str, bool | None]:
    """Which way is better, for every metric of the suites: a comparison needs it later."""
    from trialrun import registry

    found: dict[str, bool | None] = {}
    for name in DEFAULT_METRICS:
        kind = registry.find_metric(name)
        found[name] = kind.higher_is_better if kind is not None else None
    for suite in suites:
        for plan in suite.metrics or ():
            found[plan.metric.name] = getattr(plan.metric, "higher_is_better", None)
    return found


def not_passed(store: Store, spec: str, plan: RunPlan) -> list[int]:
    """Where in the plan the cases are that did not pass, in every attempt, when last run.

    They failed, were in error, or were not run. Runs of some cases only say nothing of the others.
    """
    left = positions_of(plan)
    found = []
    for record in store.runs(spec_key(spec), _RUNS_LOOKED_AT):
        if not left:
            break
        recorded = store.recorded(record.id)
        for case in store.plan(record.id):
            position = left.pop((case.suite, case.agent, case.case), None)
            made = recorded.get(case.position, [])
            passed = all(status in ("pass", "warn") for _, status in made)
            if position is not None and (not passed or missing_attempts(record, made)):
                found.append(position)
    return sorted(found)


def as_recorded(settings: RunSettings, record: RunRecord) -> RunSettings:
    """The settings with what a resumed run was begun with: how often, and until when."""
    return replace(
        settings, repeat=record.repeat, until_decided=record.settings.get("until_decided")
    )


def unfinished_run(store: Store, spec: str) -> RunRecord:
    """The latest run of the spec that was not finished."""
    for record in store.runs(spec_key(spec)):
        if record.kind == "run" and record.state is not RunState.FINISHED:
            return record
    raise nothing_to_resume(spec)


def nothing_to_resume(spec: str) -> NothingSelected:
    """The error where a run is to be resumed and none is unfinished."""
    return NothingSelected(f"{spec}: no unfinished run to resume; begin one without --resume")


def resume(
    store: Store,
    record: RunRecord,
    spec: str,
    plan: RunPlan,
    baselines: Path | None,
    *,
    accept_changes: bool,
) -> Beginning:
    """An unfinished run of the spec, with exactly what has no verdict yet.

    `plan` is all that the spec has now. A finished case that was changed since is refused: its
    verdict would stand beside those of another question.
    """
    present = positions_of(plan)
    planned = list(store.plan(record.id))
    gone = [case for case in planned if (case.suite, case.agent, case.case) not in present]
    recorded = store.recorded(record.id)
    if gone:
        names = ", ".join(case.case for case in gone[:5])
        raise UsageError(
            f"run {record.id} cannot be resumed: {len(gone)} of its {len(planned)} cases are no "
            f"longer in {spec}: {names}; begin a new run"
        )
    chosen = plan.chosen([present[case.suite, case.agent, case.case] for case in planned])
    if not accept_changes:
        _refuse_changes(store, record, chosen, Baselines(baselines))
    left = count_missing(record, recorded)
    return Beginning(record=record, plan=chosen, recorded=recorded, left=left)


def _refuse_changes(store: Store, record: RunRecord, plan: RunPlan, baselines: Baselines) -> None:
    changed = []
    for position, earlier in store.fingerprints(record.id).items():
        planned = plan[position]
        try:
            baseline = baselines.find(planned.suite, planned.case, [])
        except TraceError:  # it is unusable now, and the case was an ERROR if it was so then
            baseline = None
        if fingerprint(planned, baseline) not in earlier or len(earlier) > 1:
            changed.append(planned.case.name)
    if changed:
        names = ", ".join(changed[:5]) + (
            f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        )
        noun = "case was" if len(changed) == 1 else "cases were"
        raise UsageError(
            f"run {record.id} cannot be resumed: {len(changed)} finished {noun} changed in the "
            f"spec since: {names}; begin a new run, or keep the old verdicts with --accept-changes"
        )


def execute(
    store: Store, beginning: Beginning, settings: RunSettings, observer: Observer
) -> tuple[RunResult, str | None]:
    """Run it to its end, or to where it is stopped: the run as recorded, and why it stopped."""
    record = beginning.record
    with store.hold(record.id):
        if record.state is not RunState.RUNNING or record.warnings:
            store.finish(record.id, RunState.RUNNING, None, [])
        # Read again: another process may have gone on with the run until this one held it.
        recorded = store.recorded(record.id)
        live = LiveRun(beginning.plan, store, record, settings, observer, recorded)
        try:
            asyncio.run(_until_stopped(live))
        except PluginError:
            if not recorded:  # nothing was begun: a run without anything would be `latest`
                store.delete_runs([record.id], held=True)
            raise
        reason = live.stop_reason
        warnings = live.redactor.plain(list(dict.fromkeys(live.warnings)))
        if reason is not None:
            warnings.append(f"{STOPPED}{reason}")
        record.state = RunState.FINISHED if live.is_complete else RunState.STOPPED
        record.finished_at, record.warnings = datetime.now(UTC), warnings
        with suppress(StoreWriteError):  # it was said already, and the run stays resumable
            store.finish(record.id, record.state, record.finished_at, warnings, live.redactor.plain)
    try:
        run = stored_run(store, record, live.second_looks.found)
        if live.is_complete and not recorded:
            run.counted = live.tally  # each was counted when it was durable
        if live.second_looks.found:  # which belong to no attempt, and were paid for too
            run.counted = run.tally
            run.counted.judge = run.counted.judge or JudgeSpend()
            run.counted.judge.add(live.second_looks.spend)
        return run, reason
    except StoreError as error:
        # A store that is gone altogether: that it could not be written was the first of it.
        raise live.store_error or error from None


async def _until_stopped(live: LiveRun) -> None:
    """Ctrl-C ends the run cleanly, once; a second one is not ours to catch."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def interrupt() -> None:
        for number in signals:
            loop.remove_signal_handler(number)
        live.stop("interrupted", at_once=True)

    # In our own process a plain function holds the loop: only Python's own Ctrl-C gets through.
    if not live.settings.in_process:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
            for number in signals:
                loop.add_signal_handler(number, interrupt)
    await live.execute()
