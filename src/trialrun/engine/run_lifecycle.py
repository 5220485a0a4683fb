"""Begin, resume and execute recorded runs: what happens around a live run."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun import __version__, pricing
from trialrun.agents.running.in_process import InProcessAgent
from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.live_run import LiveRun, Observer, RunSettings, isolation_notes
from trialrun.engine.origin import origin_of
from trialrun.engine.plan import RunPlan, fingerprint, redactor_for
from trialrun.engine.stored_run import (
    CHANGED,
    STOPPED,
    missing_attempts,
    planned_size,
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
from trialrun.model.case import LazyCases, Suite
from trialrun.model.results import JudgeSpend, RunResult
from trialrun.pricing import PriceBook
from trialrun.spec.agents import ways_to_call
from trialrun.store.records import PlannedCase, RunRecord, RunState, new_run_id, spec_key
from trialrun.util.files import is_folder

if TYPE_CHECKING:
    from trialrun.store.store import Store


_RUNS_LOOKED_AT = 50
_LABELS_AT_ONCE = 1000

INTERRUPTED = "interrupted"
"""Why a run was stopped by Ctrl-C."""


class PreparedRun(Struct, kw_only=True):
    """A run that is ready to execute: new, or unfinished with its recorded attempts."""

    record: RunRecord
    plan: RunPlan
    recorded: dict[int, list[tuple[int, str]]]
    left: int
    live: LiveRun | None = None  # while it is executed

    @property
    def done(self) -> int:
        """How many attempts already have a verdict."""
        return sum(len(attempts) for attempts in self.recorded.values())


def begin(
    store: Store,
    spec: str,
    suites: Sequence[Suite],
    plan: RunPlan,
    settings: RunSettings,
    given: Mapping[str, Any] | None = None,
) -> PreparedRun:
    """Record a new run with its whole plan, before the first agent is called.

    `given` holds the command-line options that can change verdicts: a resumed run needs them again.
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
        origin=origin_of(_folder_of(spec), settings.labels),
    )
    store.create_run(record, planned_cases(plan), redactor_for(plan).plain)
    return PreparedRun(
        record=record, plan=plan, recorded={}, left=len(plan) * len(wanted_attempts(record))
    )


def _folder_of(spec: str) -> Path:
    place = Path(spec)
    return place if is_folder(place) else place.parent


def planned_cases(plan: RunPlan) -> Iterator[PlannedCase]:
    """The plan as it is recorded."""
    for position, (suite, agent, case, tags) in enumerate(recorded_labels(plan)):
        yield PlannedCase(position=position, suite=suite, agent=agent, case=case, tags=tags)


def recorded_labels(plan: RunPlan) -> Iterator[tuple[str, str | None, str, Sequence[str]]]:
    """Suite, agent, name and tags of each case as they are recorded and looked up.

    Secrets in names are masked. Names that are equal after masking are numbered: otherwise a
    resumed run would confuse them.
    """
    redact = redactor_for(plan).plain
    masked: Counter[tuple[str, str | None, str]] = Counter()
    labels = plan.labels()
    while some := list(islice(labels, _LABELS_AT_ONCE)):
        for label, (suite, agent, case, tags) in zip(some, redact(some), strict=True):
            if (suite, agent, case) != label[:3]:
                masked[suite, agent, case] += 1
                if masked[suite, agent, case] > 1:
                    case = f"{case} ({masked[suite, agent, case]})"
            yield suite, agent, case, tags


def positions_of(plan: RunPlan) -> dict[tuple[str, str | None, str], int]:
    """The position of each case in the plan, by its recorded label."""
    labels = enumerate(recorded_labels(plan))
    return {(suite, agent, case): position for position, (suite, agent, case, _) in labels}


def require_agents(plan: RunPlan) -> None:
    """Require an agent or a recorded trace for every case, before any agent is called."""
    for suite, agent in plan.pairs():
        if agent is None and any(plan[at].case.trace is None for at in plan.positions_in(suite)):
            raise UsageError(
                f"{suite.file}: the spec names no agent to run: give {ways_to_call()}, "
                "or `agents` (recorded traces are judged by `trialrun score`)"
            )
        for case in () if isinstance(suite.cases, LazyCases) else suite.cases:
            if not case.input and case.match is not None:
                raise UsageError(
                    f"{suite.file}: the case `{case.name}` is for recorded traces (`match`) and "
                    "has no `query` to ask: judge it with `trialrun score`"
                )


def directions(suites: Sequence[Suite]) -> dict[str, bool | None]:
    """For every metric of the suites, whether higher is better; a later comparison needs it."""
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
    """Positions of the cases of which not every attempt passed in their latest run.

    They failed, had an error, or were not run. A run of some cases says nothing about the others.
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
    """The settings, with the repeats and the required pass rate of the recorded run."""
    return replace(
        settings, repeat=record.repeat, until_decided=record.settings.get("until_decided")
    )


def unfinished_run(store: Store, spec: str) -> RunRecord:
    """The latest unfinished run of the spec."""
    for record in store.runs(spec_key(spec)):
        if record.kind == "run" and record.state is not RunState.FINISHED:
            return record
    raise nothing_to_resume(spec)


def nothing_to_resume(spec: str) -> NothingSelected:
    """The error if no unfinished run can be resumed."""
    return NothingSelected(f"{spec}: no unfinished run to resume; begin one without --resume")


def resume(
    store: Store,
    record: RunRecord,
    spec: str,
    plan: RunPlan,
    baselines: Path | None,
    *,
    accept_changes: bool,
    prices: PriceBook | None = None,
) -> PreparedRun:
    """Prepare an unfinished run of the spec: only attempts without a verdict are left to make.

    `plan` is the whole current spec. If a finished case has changed since, this is an error: the
    run would mix verdicts on different questions.
    """
    present = positions_of(plan)
    planned = list(store.plan(record.id))
    gone = [case for case in planned if (case.suite, case.agent, case.case) not in present]
    recorded = store.recorded(record.id)
    if gone:
        names = ", ".join(case.case for case in gone[:5])
        raise UsageError(
            f"run {record.id} cannot be resumed: {spec} no longer has {len(gone)} of its "
            f"{len(planned)} cases: {names}; begin a new run"
        )
    chosen = plan.chosen([present[case.suite, case.agent, case.case] for case in planned])
    if not accept_changes:
        _refuse_changes(store, record, chosen, Baselines(baselines), prices)
    done = sum(map(len, recorded.values()))
    left = planned_size(record, recorded.items()) - done
    return PreparedRun(record=record, plan=chosen, recorded=recorded, left=left)


def _refuse_changes(
    store: Store,
    record: RunRecord,
    plan: RunPlan,
    baselines: Baselines,
    prices: PriceBook | None,
) -> None:
    changed = []
    for position, earlier in store.fingerprints(record.id).items():
        planned = plan[position]
        if prices is not None:
            planned = replace(planned, case=replace(planned.case, prices=prices))
        try:
            baseline = baselines.find(planned.suite, planned.case, [])
        except TraceError:  # unusable now; if it was so then, the case was an ERROR
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
    store: Store, prepared: PreparedRun, settings: RunSettings, observer: Observer
) -> tuple[RunResult, str | None]:
    """Execute the run until it ends or is stopped; the recorded run, and why it stopped."""
    with signals_restored():
        return asyncio.run(execute_async(store, prepared, settings, observer, owns_loop=True))


async def execute_async(
    store: Store,
    prepared: PreparedRun,
    settings: RunSettings,
    observer: Observer,
    *,
    owns_loop: bool = False,
) -> tuple[RunResult, str | None]:
    """The same on the running event loop; `owns_loop`: Ctrl-C is handled there, too."""
    record = prepared.record
    with store.hold(record.id):
        if record.state is not RunState.RUNNING or record.warnings:
            store.finish(record.id, RunState.RUNNING, None, isolation_notes(record))
        # Read again: another process may have continued the run before this one got the lock.
        store.watch(record.id)
        recorded = store.recorded(record.id)
        live = LiveRun(prepared.plan, store, record, settings, observer, recorded)
        prepared.live = live
        cancelled: asyncio.CancelledError | None = None
        try:
            await (_until_stopped(live) if owns_loop else live.execute())
        except asyncio.CancelledError as error:  # the caller's task was cancelled
            live.stop("cancelled")
            cancelled = error
        except PluginError:
            if not recorded:  # nothing was begun: an empty run must not become `latest`
                store.delete_runs([record.id], held=True)
            raise
        wrong = _finish(store, record, live)
    if cancelled is not None or live.observer_error is not None:
        raise cancelled or live.observer_error  # type: ignore[misc]
    try:
        run = stored_run(store, record, live.flip_rejudger.verdicts)
        if live.is_complete and not recorded and not wrong:
            run.counted = live.tally  # each attempt was counted when it became durable
            run.masked = None if store.wrote_masks(record.id) else 0  # None: count them if asked
        if live.flip_rejudger.verdicts:  # these calls belong to no attempt, but were paid for
            run.counted = run.tally
            run.counted.judge = run.counted.judge or JudgeSpend()
            run.counted.judge.add(live.flip_rejudger.spend)
        return run, live.stop_reason
    except StoreError as error:
        # The store is unreachable now: the failed write was the first sign and explains more.
        raise live.store_error or error from None


def _finish(store: Store, record: RunRecord, live: LiveRun) -> bool:
    """Verify the record of the run, and add how the run ended; whether the record is wrong.

    An agent can reach the store. A run is finished only if all that it counted is in the record.
    """
    noted = (*live.warnings, *live.unlike.lines())
    warnings = live.redactor.plain(list(dict.fromkeys(noted)))
    if live.stop_reason is not None:
        warnings.append(f"{STOPPED}{live.stop_reason}")
    wrong = False
    try:
        found = store.verify(record.id)
        if found:
            wrong = True
            warnings.append(f"{CHANGED}{found}; these attempts have no verdict")
        complete = live.is_complete and not wrong
        record.state = RunState.FINISHED if complete else RunState.STOPPED
        record.finished_at, record.warnings = datetime.now(UTC), warnings
        seen = live.names.added_to(record.origin)
        record.origin = {name: live.redactor.plain(value) for name, value in seen.items()}
        ended, redact = record.finished_at, live.redactor.plain
        store.finish(record.id, record.state, ended, warnings, redact, record.origin)
    except (StoreError, UsageError) as error:
        # If a write failed before, that was the first sign, and explains more.
        raise live.store_error or StoreWriteError(
            f"run {record.id}: what was counted is not in the store: {error}"
        ) from None
    return wrong


@contextmanager
def signals_restored() -> Iterator[None]:
    """Give the caller's signal handlers back: the event loop leaves Python's default ones."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _HANDLED}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # None: not set from Python, so it cannot be set again
                signal.signal(number, handler)


_HANDLED = (signal.SIGINT, signal.SIGTERM)


async def _until_stopped(live: LiveRun) -> None:
    """End the run cleanly at the first Ctrl-C; a second one has Python's default effect."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        for number in _HANDLED:
            loop.remove_signal_handler(number)
        live.stop(INTERRUPTED, at_once=True)

    def interrupt_function(number: int, frame: object) -> None:
        signal.signal(number, signal.default_int_handler)
        loop.call_soon_threadsafe(live.stop, INTERRUPTED, True)
        if InProcessAgent.is_busy:
            raise KeyboardInterrupt

    with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
        if live.settings.in_process:  # a plain function blocks the loop, which could not stop it
            signal.signal(signal.SIGINT, interrupt_function)
        else:
            for number in _HANDLED:
                loop.add_signal_handler(number, interrupt)
    await live.execute()
