"""A live run: agents asked, many at once, each attempt judged and durable before it is counted.

Planned equals reported: what could not be run, or was not run because the run was stopped, has its
place in the report all the same, and the run can be resumed.
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
from trialrun.agents.base import Agent, AgentKind, Surroundings
from trialrun.agents.running.actions import Actions
from trialrun.agents.running.processes import Keeper, memory_of_machine
from trialrun.engine.attempt import Asking, run_attempt
from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.budget import Budget
from trialrun.engine.case_results import completed, error_result
from trialrun.engine.evaluate import evaluate_async
from trialrun.engine.judges import Judges
from trialrun.engine.plan import Planned, RunPlan, fingerprint, redactor_for
from trialrun.engine.recorded_traces import recorded_trace
from trialrun.engine.recorder import Recorder
from trialrun.engine.rejudge_flips import SecondLooks
from trialrun.engine.stability import unsettled
from trialrun.engine.stored_run import is_decided
from trialrun.errors import StoreWriteError, TrialrunError, UsageError
from trialrun.model.case import AgentSpec, LazyCases, Suite
from trialrun.model.results import EvaluationResult, Tally
from trialrun.model.trace import Trace
from trialrun.pricing import PriceBook
from trialrun.spec.agents import ways_to_call
from trialrun.store.records import Attempt, RunRecord

if TYPE_CHECKING:
    from trialrun.store.store import Store

DEFAULT_LIMIT = 300.0
"""Seconds that a case may take where nothing says otherwise."""

MOST_UNTIL_DECIDED = 30
"""Attempts at a case whose pass rate is to be decided, where nothing says otherwise."""

_SHARE_OF_MEMORY = 0.8


class RunSettings(Struct, frozen=True, kw_only=True):
    """How a run is to go. `rate` is attempts started per second."""

    jobs: int = 8
    timeout: float | None = None
    retries: int = 2
    rate: float | None = None
    repeat: int = 1
    until_decided: float | None = None  # the pass rate that has to be decided
    fail_fast: bool = False
    max_cost: float | None = None
    in_process: bool = False
    keeps_folders: bool = False
    memory_limit: int | None = None
    baselines: Path | None = None
    prices: PriceBook | None = None
    judge_cache: bool = True


class Observer(Protocol):
    """Whoever wants to know how a run goes on."""

    def started(self) -> None:
        """An attempt began."""

    def finished(self, result: EvaluationResult) -> None:
        """An attempt was judged, and is durable."""

    def stopped(self, reason: str) -> None:
        """No further attempt is begun."""


def _functions_of(suite: Suite) -> Iterator[str]:
    """The functions around its cases. All rows of a table have the same: one case tells."""
    cases = suite.cases[:1] if isinstance(suite.cases, LazyCases) else suite.cases
    actions = (
        action for case in cases for action in (case.setup, *case.state, case.teardown) if action
    )
    yield from dict.fromkeys(action.function for action in actions if action.function is not None)


class LiveRun:
    """One run, or the rest of one: what `recorded` holds has its verdict and is not run again."""

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
        self.warnings: list[str] = []
        self.stop_reason: str | None = None
        self.store_error: StoreWriteError | None = None
        self.tally = Tally()  # of what this run has made durable
        self.is_complete = False  # every attempt that was wanted has been made
        self._recorded = {position: dict(done) for position, done in (recorded or {}).items()}
        self.redactor = redactor_for(plan)
        self._recorder = Recorder(store, record.id, self.redactor.plain)
        self._agents: dict[tuple[str, str | None], tuple[Agent | None, Actions]] = {}
        self._baselines = Baselines(settings.baselines)
        self._judges: Judges  # made when the run begins: what is missing is told then
        self._suites = list({suite.name: suite for suite, _ in plan.pairs()}.values())
        self._work = self._items()
        self._left = sum(1 for _ in self._items())  # items that no slot has taken yet
        self._next_start = 0.0
        self._budget = Budget(settings.max_cost)
        self.second_looks = SecondLooks(self._judged_again, self._budget)
        self._gave_up = False  # on something that was taken from the work, because of a stop
        self._slots: list[asyncio.Task[None]] = []

    async def execute(self) -> None:
        """Run what is left of the plan. StoreError where what was found cannot be written."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._recorder.close)
            # Repeats are there to see whether verdicts differ: they must not come from a cache.
            cached = self.settings.judge_cache and self.settings.repeat == 1
            judges = Judges(self._suites, cached=cached, redactor=self.redactor.plain)
            self._judges = await stack.enter_async_context(judges)
            try:
                self._slots = [asyncio.ensure_future(self._start_agents(stack))]
                await self._slots[0]
                jobs = 1 if self.settings.in_process else self.settings.jobs
                self._slots = [asyncio.ensure_future(self._slot()) for _ in range(jobs)]
                await asyncio.gather(*self._slots)
                self.is_complete = not self._gave_up and next(self._work, None) is None
                if self.is_complete and self.stop_reason is None and self.settings.repeat > 1:
                    await self._look_again()
            except asyncio.CancelledError:
                if self.stop_reason is None:
                    raise
            finally:
                self._cancel_slots()
                await asyncio.gather(*self._slots, return_exceptions=True)

    def stop(self, reason: str, at_once: bool = False) -> None:
        """Begin no further attempt; with `at_once`, end those that are running too."""
        if self.is_complete:  # only second looks are left, and the run is whole without them
            self.second_looks.stopped = reason
        elif self.stop_reason is None:
            self.stop_reason = self.redactor.text(reason)
            self.observer.stopped(self.stop_reason)
        if at_once:
            self._cancel_slots()

    def _cancel_slots(self) -> None:
        """Once each: a second time would break off the teardown that the first one began."""
        for slot in self._slots:
            if not slot.cancelling():
                slot.cancel()

    # Agents

    async def _start_agents(self, stack: AsyncExitStack) -> None:
        limit = self.settings.memory_limit
        if limit is None and (memory := memory_of_machine()) is not None:
            limit = int(memory * _SHARE_OF_MEMORY)
        keeper = Keeper(limit)
        stack.callback(keeper.close)
        for suite, spec in self.plan.pairs(self._open_positions()):
            # In full: a case with a working folder of its own imports from there.
            folder = str(Path(suite.file).parent.absolute() if suite.file else Path.cwd())
            actions = Actions(folder, keeper)
            stack.push_async_callback(actions.close)
            await actions.require(_functions_of(suite))
            agent = None if spec is None else self._agent(spec, folder, keeper)
            if agent is not None:
                stack.push_async_callback(agent.close)
                await agent.start(suite.takes_turns)
            self._agents[suite.name, spec.name if spec else None] = (agent, actions)

    def _agent(self, spec: AgentSpec, folder: str, keeper: Keeper) -> Agent:
        kind: type[AgentKind] = registry.find(registry.AGENTS, spec.kind)
        in_process = self.settings.in_process
        return kind.create(
            spec.settings, Surroundings(folder=folder, keeper=keeper, in_process=in_process)
        )

    # Slots: each takes what is next until there is nothing more

    def _items(self) -> Iterator[tuple[int, int]]:
        """Positions with the attempt that is wanted, those that have a verdict left out."""
        if self.settings.until_decided is not None:
            yield from ((position, 1) for position in self._open_positions())
            return
        for attempt in range(1, self.settings.repeat + 1):
            for position in range(len(self.plan)):
                if attempt not in self._recorded.get(position, ()):
                    yield position, attempt

    def _open_positions(self) -> Iterator[int]:
        """Where an attempt may still be made: only their agents need be there."""
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
        """Repeat a case until its pass rate is surely on one side of the required one."""
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
        """How the attempt ended; None where it was not begun, because the run was stopped."""
        await self._keep_rate()
        if self.stop_reason is not None:  # perhaps while it waited
            self._gave_up = True
            return None
        planned = self._priced(self.plan[position])
        self.observer.started()
        trace = await self._trace(planned)
        if "teardown_failed" in trace.metadata:
            why = trace.metadata["teardown_failed"]
            self.warnings.append(f"{planned.case.name}: teardown failed: {why}")
        result, asked = await self._judge(planned, trace, attempt)
        made = Attempt(
            position=position,
            attempt=attempt,
            fingerprint=asked,
            result=result,
            trace=trace,
        )
        try:
            await self._recorder.add(made)
        except StoreWriteError as error:  # what cannot be recorded need not be asked for
            self.store_error = error
            self.stop(str(error), at_once=True)
            raise asyncio.CancelledError from None
        self.tally.add(result)
        self.observer.finished(result)
        self._account(result)
        return result.status.value

    async def _keep_rate(self) -> None:
        """Starts are spread evenly: a burst would be what a rate limit is there to prevent."""
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
        asking = Asking(
            agent=agent,
            agent_name=spec.name,
            actions=actions,
            suite_name=suite.name,
            limit=self._limit(planned),
            retries=self.settings.retries,
            keeps_folders=self.settings.keeps_folders,
        )
        return await run_attempt(case, asking)

    def _limit(self, planned: Planned) -> float:
        """The nearest word counts: the command line's, the case's, the agent's, the suite's."""
        agent = planned.agent.timeout if planned.agent is not None else None
        given = (self.settings.timeout, planned.case.timeout, agent, planned.suite.timeout)
        return next((limit for limit in given if limit is not None), DEFAULT_LIMIT)

    async def _judge(
        self, planned: Planned, trace: Trace, attempt: int
    ) -> tuple[EvaluationResult, str]:
        """The result, and the fingerprint of what it was held against."""
        suite, case = planned.suite, planned.case
        baseline = None
        try:
            baseline = self._baselines.find(suite, case, self.warnings)
            result = await evaluate_async(case, trace, baseline, judge=self._judges.of(suite))
        except TrialrunError as error:
            result = error_result(suite, case, str(error))
        result.agent = planned.agent.name if planned.agent else None
        completed(result, suite, case, trace, attempt)
        return result, fingerprint(planned, baseline)

    async def _look_again(self) -> None:
        """Judge the answers of unsettled flips once more, past the cache as all repeats are."""
        if self.tally.judge is None and not self._recorded:  # no judge has brought any about
            return
        attempts = unsettled(self._store, self._record)
        slots = range(self.settings.jobs)
        self._slots = [asyncio.ensure_future(self.second_looks.slot(attempts)) for _ in slots]
        try:
            await asyncio.gather(*self._slots)
        except asyncio.CancelledError:
            if self.second_looks.stopped is None:
                raise
        self.warnings += self.second_looks.warnings()

    async def _judged_again(self, attempt: Attempt) -> EvaluationResult:
        assert attempt.trace is not None
        planned = self._priced(self.plan[attempt.position])
        result, _ = await self._judge(planned, attempt.trace, attempt.attempt)
        return result

    def _priced(self, planned: Planned) -> Planned:
        """With the prices of the command line, where it gives some."""
        if self.settings.prices is None:
            return planned
        return replace(planned, case=replace(planned.case, prices=self.settings.prices))

    def _account(self, result: EvaluationResult) -> None:
        """What a finished attempt means for those that have not begun, if there are any."""
        self._budget.add(result)
        if self._left <= 0 and self.settings.until_decided is None:
            return
        if self.settings.fail_fast and not result.passed:
            self.stop(f"--fail-fast: {result.case_name} did not pass")
        over = self._budget.why_over()
        if over is not None:
            self.stop(over)
