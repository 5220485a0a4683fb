"""Run agents live, many at once; each attempt is evaluated and durable before it is counted.

Every planned attempt is reported, even when it could not be run or the run was stopped, and the
run can be resumed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from trialrun import registry
from trialrun.agents.base import NOT_ISOLATED, Agent, AgentContext, AgentKind
from trialrun.agents.running.actions import Actions
from trialrun.agents.running.callables import CallableAgent
from trialrun.agents.running.processes import Reaper, memory_of_machine
from trialrun.engine.asked import asked_in
from trialrun.engine.attempt import AttemptSettings, run_attempt
from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.baseline_origin import UnlikeBaselines
from trialrun.engine.budget import Budget
from trialrun.engine.case_results import completed, error_result
from trialrun.engine.evaluate import evaluate_async
from trialrun.engine.judges import Judges
from trialrun.engine.origin import NamesSeen
from trialrun.engine.plan import Planned, RunPlan, fingerprint, redactor_for
from trialrun.engine.recorded_traces import recorded_trace
from trialrun.engine.recorder import Recorder
from trialrun.engine.rejudge_flips import FlipRejudger
from trialrun.engine.stability import unsettled
from trialrun.engine.stored_run import is_decided
from trialrun.errors import CannotMask, StoreWriteError, TrialrunError, UsageError
from trialrun.model.case import AgentSpec, LazyCases, Suite
from trialrun.model.results import EvaluationResult, Tally
from trialrun.model.trace import Trace
from trialrun.pricing import PriceBook
from trialrun.spec.agents import ways_to_call
from trialrun.store.records import Attempt, RunRecord, RunState

if TYPE_CHECKING:
    from trialrun.store.store import Store

DEFAULT_LIMIT = 300.0
"""Default time limit of a case, in seconds."""

MOST_UNTIL_DECIDED = 30
"""Default maximum of attempts at a case with `--until-decided`."""

_SHARE_OF_MEMORY = 0.8


class RunSettings(Struct, frozen=True, kw_only=True):
    """The options of a run. `rate` is attempts started per second."""

    jobs: int = 8
    timeout: float | None = None
    retries: int = 2
    rate: float | None = None
    repeat: int = 1
    until_decided: float | None = None  # the pass rate that the run must decide
    fail_fast: bool = False
    max_cost: float | None = None
    in_process: bool = False
    keeps_folders: bool = False
    memory_limit: int | None = None
    baselines: Path | None = None
    require_baseline: bool = False
    prices: PriceBook | None = None
    judge_cache: bool = True
    labels: Sequence[str] = ()


class Observer(Protocol):
    """Receives the progress of a run."""

    def started(self) -> None:
        """An attempt has begun."""

    def finished(self, result: EvaluationResult) -> None:
        """An attempt was evaluated and is durable."""

    def stopped(self, reason: str) -> None:
        """No further attempt will begin."""


def functions_of(suite: Suite) -> Iterator[str]:
    """The functions of setup, state and teardown; one row of a table names those of all rows."""
    cases = suite.cases[:1] if isinstance(suite.cases, LazyCases) else suite.cases
    actions = (
        action for case in cases for action in (case.setup, *case.state, case.teardown) if action
    )
    yield from dict.fromkeys(action.function for action in actions if action.function is not None)


def isolation_notes(record: RunRecord) -> list[str]:
    """What earlier invocations of this run noted: the attempts that they made stay in the run."""
    return [warning for warning in record.warnings if warning.startswith(NOT_ISOLATED)]


class LiveRun:
    """One run, or the rest of one: attempts in `recorded` have a verdict and are not repeated."""

    def __init__(
        self,
        plan: RunPlan,
        store: Store,
        record: RunRecord,
        settings: RunSettings,
        observer: Observer,
        recorded: Mapping[int, Sequence[tuple[int, str]]] | None = None,
    ) -> None:
        self.plan = plan
        self._store = store
        self._record = record
        self.settings = settings
        self.observer = observer
        self.warnings = isolation_notes(record)
        self.stop_reason: str | None = None
        self.store_error: StoreWriteError | None = None
        self.observer_error: BaseException | None = None
        self.tally = Tally()  # attempts that this process has made durable
        self.is_complete = False  # every wanted attempt has been made
        self._recorded = {position: dict(done) for position, done in (recorded or {}).items()}
        self.redactor = redactor_for(plan)
        self._recorder = Recorder(store, record.id, self.redactor.plain)
        self._agents: dict[tuple[str, str | None], tuple[Agent | None, Actions]] = {}
        self.names = NamesSeen(record.origin)
        self._baselines = Baselines(settings.baselines)
        self.unlike = UnlikeBaselines()
        self._judges: Judges  # made when the run begins, which reports what is missing
        self._suites = list({suite.name: suite for suite, _ in plan.pairs()}.values())
        self._work = self._open_attempts()
        self._left = sum(1 for _ in self._open_attempts())  # not yet taken by a slot
        self._next_start = 0.0
        self._budget = Budget(settings.max_cost)
        self.flip_rejudger = FlipRejudger(self._rejudge, self._budget)
        self._skipped_some = False  # a taken attempt did not begin because of a stop
        self._slots: list[asyncio.Task[None]] = []

    async def execute(self) -> None:
        """Run what is left of the plan. Raises StoreError if results cannot be written."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._recorder.close)
            # Repeats show whether verdicts differ: a cache would make them equal.
            cached = self.settings.judge_cache and self.settings.repeat == 1
            judges = Judges(self._suites, cached=cached, redactor=self.redactor.plain)
            self._judges = await stack.enter_async_context(judges)
            try:
                self._slots = [asyncio.ensure_future(self._start_agents(stack))]
                await self._slots[0]
                self._take_notes()
                if self.warnings:  # on record even if this process is killed
                    state = RunState.RUNNING
                    self._store.finish(self._record.id, state, None, self.warnings)
                jobs = 1 if self.settings.in_process else self.settings.jobs
                self._slots = [asyncio.ensure_future(self._slot()) for _ in range(jobs)]
                await asyncio.gather(*self._slots)
                self.is_complete = not self._skipped_some and next(self._work, None) is None
                if self.is_complete and self.stop_reason is None and self.settings.repeat > 1:
                    await self._rejudge_flips()
            except asyncio.CancelledError:
                if self.stop_reason is None:
                    raise
            finally:
                self._cancel_slots()
                await asyncio.gather(*self._slots, return_exceptions=True)
                self._take_notes()

    def stop(self, reason: str, at_once: bool = False) -> None:
        """Begin no further attempt; with `at_once`, cancel the running ones too."""
        if self.is_complete:  # only flips are being rejudged, and the run is complete without that
            self.flip_rejudger.stopped = reason
        elif self.stop_reason is None:
            self.stop_reason = self.redactor.text(reason)
            self.observer.stopped(self.stop_reason)
        if at_once:
            self._cancel_slots()

    def _cancel_slots(self) -> None:
        """Cancel each slot once: a second time would interrupt its teardown."""
        for slot in self._slots:
            if not slot.cancelling():
                slot.cancel()

    # Agents

    async def _start_agents(self, stack: AsyncExitStack) -> None:
        limit = self.settings.memory_limit
        if limit is None and (memory := memory_of_machine()) is not None:
            limit = int(memory * _SHARE_OF_MEMORY)
        reaper = Reaper(limit)
        stack.callback(reaper.close)
        for suite, spec in self.plan.pairs(self._open_positions()):
            # Absolute: a case with its own working folder imports from there.
            folder = str(Path(suite.file).parent.absolute() if suite.file else Path.cwd())
            actions = Actions(folder, reaper)
            stack.push_async_callback(actions.close)
            await actions.require(functions_of(suite))
            agent = None if spec is None else self._agent(spec, folder, reaper)
            if agent is not None:
                stack.push_async_callback(agent.close)
                await agent.start(suite.takes_turns)
            self._agents[suite.name, spec.name if spec else None] = (agent, actions)

    def _take_notes(self) -> None:
        """Add what agents have to say about the run, such as cases that share a process."""
        agents = (agent for agent, _ in self._agents.values())
        notes = dict.fromkeys(note for agent in agents if (note := getattr(agent, "note", None)))
        self.warnings += (note for note in notes if note not in self.warnings)

    def _agent(self, spec: AgentSpec, folder: str, reaper: Reaper) -> Agent:
        if spec.function is not None:
            return CallableAgent(spec.function, spec.settings.runner)  # type: ignore[attr-defined]
        kind: type[AgentKind] = registry.find(registry.AGENTS, spec.kind)
        in_process = self.settings.in_process
        return kind.create(
            spec.settings, AgentContext(folder=folder, reaper=reaper, in_process=in_process)
        )

    # Slots: each takes the next attempt until there are no more

    def _open_attempts(self) -> Iterator[tuple[int, int]]:
        """Positions and numbers of the attempts to make, without those that have a verdict."""
        if self.settings.until_decided is not None:
            yield from ((position, 1) for position in self._open_positions())
            return
        for attempt in range(1, self.settings.repeat + 1):
            for position in range(len(self.plan)):
                if attempt not in self._recorded.get(position, ()):
                    yield position, attempt

    def _open_positions(self) -> Iterator[int]:
        """Positions at which an attempt may still be made: only their agents must start."""
        required = self.settings.until_decided
        for position in range(len(self.plan)):
            done = self._recorded.get(position, {})
            if len(done) < self.settings.repeat and (
                required is None or not is_decided(list(done.values()), required)
            ):
                yield position

    async def _slot(self) -> None:
        while self.stop_reason is None:
            item = next(self._work, None)
            if item is None:
                return
            position, attempt = item
            self._left -= 1
            if self.settings.until_decided is None:
                await self._attempt(position, attempt)
            else:
                await self._decide(position, self.settings.until_decided)

    async def _decide(self, position: int, required: float) -> None:
        """Repeat a case until its pass rate is decided: above or below the required one."""
        done = self._recorded.setdefault(position, {})
        for attempt in range(1, self.settings.repeat + 1):
            if is_decided(list(done.values()), required):
                return
            if attempt not in done:
                status = await self._attempt(position, attempt)
                if status is None:
                    return
                done[attempt] = status

    async def _attempt(self, position: int, attempt: int) -> str | None:
        """The status of the attempt; None if it did not begin because the run was stopped."""
        await self._keep_rate()
        if self.stop_reason is not None:  # perhaps while it waited
            self._skipped_some = True
            return None
        planned = self._with_options(self.plan[position])
        self.observer.started()
        trace = await self._trace(planned)
        if "teardown_failed" in trace.metadata:
            why = trace.metadata["teardown_failed"]
            self.warnings.append(f"{planned.case.name}: teardown failed: {why}")
        self.names.add(trace)
        result, baseline = await self._judge(planned, trace, attempt)
        made = Attempt(
            position=position,
            attempt=attempt,
            fingerprint=fingerprint(planned, baseline),
            result=result,
            trace=trace,
            asked=asked_in(planned.case, baseline),
        )
        try:
            result = await self._record_masked(made, planned)
        except StoreWriteError as error:  # do not call agents whose answers cannot be stored
            self.store_error = error
            self.stop(str(error), at_once=True)
            raise asyncio.CancelledError from None
        self.tally.add(result)
        self._report(result)
        self._account(result)
        return result.status.value

    async def _record_masked(self, made: Attempt, planned: Planned) -> EvaluationResult:
        """Record the attempt; without its texts, as an ERROR, if they cannot be masked."""
        try:
            await self._recorder.add(made)
            return made.result
        except CannotMask as error:
            result = error_result(planned.suite, planned.case, str(error), made.trace)
            result.agent, result.attempt = made.result.agent, made.attempt
            result.question, result.answer, result.turns = None, None, ()
            await self._recorder.add(replace(made, result=result, trace=None, asked=None))
            return result

    def _report(self, result: EvaluationResult) -> None:
        """Tell the observer. If it raises, the run is stopped: its exception is the caller's."""
        try:
            self.observer.finished(result)
        except BaseException as error:
            self.observer_error = self.observer_error or error
            self.stop(f"the observer raised {type(error).__name__}", at_once=True)

    async def _keep_rate(self) -> None:
        """Spread the starts evenly: a burst would exceed the service's rate limit."""
        if self.settings.rate is None:
            return
        now = time.monotonic()
        start = max(now, self._next_start)
        self._next_start = start + 1 / self.settings.rate
        await asyncio.sleep(start - now)

    async def _trace(self, planned: Planned) -> Trace:
        suite, spec, case = planned.suite, planned.agent, planned.case
        if case.trace is not None:
            return recorded_trace(suite, case, self.warnings)
        agent, actions = self._agents[suite.name, spec.name if spec else None]
        if agent is None or spec is None:
            raise UsageError(f"{suite.file}: no agent: give {ways_to_call()}")
        settings = AttemptSettings(
            agent=agent,
            agent_name=spec.name,
            actions=actions,
            suite_name=suite.name,
            limit=self._limit(planned),
            retries=self.settings.retries,
            keeps_folders=self.settings.keeps_folders,
        )
        return await run_attempt(case, settings)

    def _limit(self, planned: Planned) -> float:
        """The time limit, by precedence: command line, case, agent, suite, default."""
        agent = planned.agent.timeout if planned.agent is not None else None
        given = (self.settings.timeout, planned.case.timeout, agent, planned.suite.timeout)
        return next((limit for limit in given if limit is not None), DEFAULT_LIMIT)

    async def _judge(
        self, planned: Planned, trace: Trace, attempt: int
    ) -> tuple[EvaluationResult, Trace | None]:
        """The result, and the baseline of the case."""
        suite, case = planned.suite, planned.case
        baseline = None
        try:
            baseline = self._baselines.find(suite, case, self.warnings)
            self.unlike.add(case, trace, baseline)
            result = await evaluate_async(case, trace, baseline, judge=self._judges.of(suite))
        except TrialrunError as error:
            result = error_result(suite, case, str(error), trace)
        result.agent = planned.agent.name if planned.agent else None
        completed(result, suite, attempt)
        return result, baseline

    async def _rejudge_flips(self) -> None:
        """Judge the answers of unsettled flips once more, without the cache as for all repeats."""
        if self.tally.judge is None and not self._recorded:  # no judge, so no flip of a judge
            return
        attempts = unsettled(self._store, self._record)
        slots = range(self.settings.jobs)
        self._slots = [asyncio.ensure_future(self.flip_rejudger.slot(attempts)) for _ in slots]
        try:
            await asyncio.gather(*self._slots)
        except asyncio.CancelledError:
            if self.flip_rejudger.stopped is None:
                raise
        self.warnings += self.flip_rejudger.warnings()

    async def _rejudge(self, attempt: Attempt) -> EvaluationResult:
        assert attempt.trace is not None
        planned = self._with_options(self.plan[attempt.position])
        result, _ = await self._judge(planned, attempt.trace, attempt.attempt)
        return result

    def _with_options(self, planned: Planned) -> Planned:
        """The case with the options of the command line that decide its verdict."""
        case = planned.case.with_options(self.settings.prices, self.settings.require_baseline)
        return planned if case is planned.case else replace(planned, case=case)

    def _account(self, result: EvaluationResult) -> None:
        """Add up the cost of a finished attempt; stop the run if a limit is reached."""
        self._budget.add(result)
        if self._left <= 0 and self.settings.until_decided is None:
            return
        if self.settings.fail_fast and not result.passed:
            self.stop(f"--fail-fast: {result.case_name} did not pass")
        over = self._budget.why_over()
        if over is not None:
            self.stop(over)
