"""`trialrun.run`: what the command `trialrun run` does, from Python and with any callable."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from trialrun.agents.runner import RunnerSettings
from trialrun.engine import run_lifecycle
from trialrun.engine.live_run import MOST_UNTIL_DECIDED, RunSettings
from trialrun.engine.plan import Selection, make_plan, redactor_for
from trialrun.engine.stability import FAIL_ON, apply_gates
from trialrun.errors import RunInterrupted, SpecError, UsageError
from trialrun.judge import Judge
from trialrun.model.case import AgentSpec, EvalCase, JudgeSettings, LazyCases, Suite
from trialrun.model.results import EvaluationResult, RunResult
from trialrun.spec.case import label, plan_of
from trialrun.spec.load import load_prices, load_suites, read_judge
from trialrun.spec.validation import Problems
from trialrun.util.files import is_folder

if TYPE_CHECKING:
    from trialrun.store.store import Store

OnResult = Callable[[EvaluationResult], Any]
Cases = EvalCase | dict[str, Any]
Suites = str | Path | Suite | Cases | Sequence[Suite] | Sequence[Cases]

CASES_IN_CODE = "cases"
"""The suite of cases that are given without one."""


def run(
    suite: Suites,
    agent: Callable[..., Any] | str | None = None,
    repeat: int = 1,
    jobs: int = 8,
    store: str | Path | Store | None = None,
    on_result: OnResult | None = None,
    **options: Any,
) -> RunResult:
    """Run cases against an agent, and judge and count every attempt, as `trialrun run` does.

    `suite`: the path of a spec or of a folder, suites of `load_suite`, cases, or one case.
    `agent`: any callable, `module:function`, or the name of one of the spec's agents; default: the
    spec's own. `store`: where the run is recorded; default: nowhere. `on_result` is called with
    every result as soon as it is known.

    Options: `cases`, `tags`, `timeout`, `retries`, `rate`, `judge`, `baseline`, `require_baseline`,
    `prices`, `min_pass_rate`, `until_decided`, `fail_on`, `fail_fast`, `max_cost`, `judge_cache`.
    Each means what it means to the command.

    Works in a running event loop too (a notebook); there, `await run_async(…)` runs an async agent
    on that loop.
    """
    work = _Work(suite, agent, store, on_result, repeat=repeat, jobs=jobs, **options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with run_lifecycle.signals_restored():
            return asyncio.run(work.execute(owns_loop=True))
    return work.execute_in_thread()


async def run_async(
    suite: Suites,
    agent: Callable[..., Any] | str | None = None,
    repeat: int = 1,
    jobs: int = 8,
    store: str | Path | Store | None = None,
    on_result: OnResult | None = None,
    **options: Any,
) -> RunResult:
    """`run` for async callers: an async agent is awaited on the caller's event loop."""
    work = _Work(suite, agent, store, on_result, repeat=repeat, jobs=jobs, **options)
    return await work.execute()


class _Work:
    """One call of `run`: its arguments, checked before anything is called."""

    def __init__(
        self,
        suite: Suites,
        agent: Callable[..., Any] | str | None,
        store: str | Path | Store | None,
        on_result: OnResult | None,
        *,
        repeat: int,
        jobs: int,
        cases: str | Sequence[str] = (),
        tags: str | Sequence[str] = (),
        judge: Any = None,
        baseline: str | Path | None = None,
        prices: str | Path | None = None,
        min_pass_rate: float | None = None,
        until_decided: bool = False,
        fail_on: str | Sequence[str] = (),
        **settings: Any,
    ) -> None:
        _require_callback(on_result)
        self.on_result = on_result
        self.store = store
        self.min_pass_rate, self.fail_on = min_pass_rate, _texts(fail_on)
        _require_gates(min_pass_rate, until_decided, self.fail_on, repeat)
        suites, self.spec = _suites_of(suite)
        names = _texts(agent) if _is_name(agent, suites) else ()
        if agent is not None and not names:
            suites = [_with_agent(one, agent) for one in suites]
        if judge is not None:
            suites = [replace(one, judge=_judge(judge)) for one in suites]
        if baseline is not None and not is_folder(Path(baseline)):
            raise UsageError(f"baseline: {str(baseline)[:200]}: no such folder")
        self.suites = suites
        self.plan = make_plan(
            suites, Selection(tags=_texts(tags), names=_texts(cases), agents=names)
        )
        self.settings = RunSettings(
            jobs=1 if _needs_folders(suites) else _whole("jobs", jobs),
            repeat=_whole(
                "repeat", MOST_UNTIL_DECIDED if until_decided and repeat == 1 else repeat
            ),
            until_decided=min_pass_rate if until_decided else None,
            baselines=None if baseline is None else Path(baseline),
            prices=None if prices is None else load_prices(prices),
            **_checked(settings),
        )
        self.given = {
            "baseline": None if baseline is None else str(Path(baseline).resolve()),
            "prices": None if prices is None else str(Path(prices).resolve()),
            "require_baseline": self.settings.require_baseline,
            "timeout": self.settings.timeout,
            "min_pass_rate": min_pass_rate,
            "fail_on": list(self.fail_on),
        }
        self.prepared: run_lifecycle.PreparedRun | None = None

    async def execute(self, owns_loop: bool = False) -> RunResult:
        """Run everything. RunInterrupted with the result after Ctrl-C."""
        with _opened(self.store) as store:
            given = {name: value for name, value in self.given.items() if value}
            self.prepared = run_lifecycle.begin(
                store, self.spec, self.suites, self.plan, self.settings, given
            )
            observer = _Observer(self.on_result, redactor_for(self.plan).plain)
            found, reason = await run_lifecycle.execute_async(
                store, self.prepared, self.settings, observer, owns_loop=owns_loop
            )
            apply_gates(found, store, self.prepared.record, self.min_pass_rate, self.fail_on)
            found.results = list(found.results)  # the store is closed when the caller reads them
        if reason == run_lifecycle.INTERRUPTED:
            made = f"{self.plan_size()} planned attempts; `result` has what was done"
            raise RunInterrupted(f"interrupted: {made}", found)
        return found

    def plan_size(self) -> int:
        """How many attempts are planned at least."""
        return self.prepared.left if self.prepared is not None else 0

    def execute_in_thread(self) -> RunResult:
        """Run on another event loop, in a thread: the caller's loop is busy with the caller."""
        outcome: list[RunResult | BaseException] = []
        loop = asyncio.new_event_loop()

        def work() -> None:
            try:
                with asyncio.Runner(loop_factory=lambda: loop) as runner:
                    outcome.append(runner.run(self.execute()))
            except BaseException as error:
                outcome.append(error)

        thread = threading.Thread(target=work, name="trialrun-run", daemon=True)
        thread.start()
        with run_lifecycle.signals_restored():
            self._interrupt_on_ctrl_c(loop)
            thread.join()
        (found,) = outcome
        if isinstance(found, BaseException):
            raise found
        return found

    def _interrupt_on_ctrl_c(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop the run at the first Ctrl-C; a second one has Python's default effect."""

        def interrupt(number: int, frame: Any) -> None:
            signal.signal(number, signal.default_int_handler)
            with suppress(RuntimeError):  # the loop is closed: the run is over
                loop.call_soon_threadsafe(self.interrupt)

        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupt)

    def interrupt(self) -> None:
        """End the run cleanly, from its own thread."""
        if self.prepared is not None and self.prepared.live is not None:
            self.prepared.live.stop(run_lifecycle.INTERRUPTED, at_once=True)


class _Observer:
    """Gives each result to the caller, with its secrets masked as in the stored run."""

    def __init__(self, on_result: OnResult | None, redactor: Callable[[Any], Any]) -> None:
        self._on_result = on_result
        self._redactor = redactor

    def started(self) -> None:
        """Nothing to report."""

    def finished(self, result: EvaluationResult) -> None:
        if self._on_result is None:
            return
        plain = msgspec.to_builtins(result)
        masked = self._redactor(plain)
        self._on_result(result if masked is plain else msgspec.convert(masked, EvaluationResult))

    def stopped(self, reason: str) -> None:
        """The result says it."""


@contextmanager
def _opened(store: str | Path | Store | None) -> Iterator[Store]:
    """The store of the run: in memory if none is given. One that is open already stays open."""
    from trialrun.store import open_store
    from trialrun.store.memory import memory_store
    from trialrun.store.store import Store

    if isinstance(store, Store):
        yield store
        return
    if store is not None and (not isinstance(store, (str, Path)) or not str(store).strip()):
        raise UsageError(f"store: expected a path or a URL, found {store!r}")
    with memory_store() if store is None else open_store(str(store)) as opened:
        yield opened


# What to run


def _suites_of(given: Any) -> tuple[list[Suite], str]:
    """The suites, and what the run is called: the path of the spec, if there is one."""
    if isinstance(given, (str, Path)):
        return load_suites(given), str(given)
    if isinstance(given, Suite):
        return [given], given.file or given.name
    if isinstance(given, (EvalCase, dict)):
        given = [given]
    if not isinstance(given, Collection) or isinstance(given, (bytes, set)):
        raise UsageError(f"{_EXPECTED}, found {type(given).__name__}")
    items = list(given)
    if items and all(isinstance(item, Suite) for item in items):
        _require_unique("suites", [suite.name for suite in items])
        return items, ", ".join(suite.file or suite.name for suite in items)
    for item in items:
        if not isinstance(item, (EvalCase, dict)):
            raise UsageError(f"{_EXPECTED}, found a list with {type(item).__name__}")
    return [Suite(name=CASES_IN_CODE, cases=_named_cases(items))], CASES_IN_CODE


_EXPECTED = "expected the path of a spec, a suite, cases (EvalCase or dict), or one case"


def _named_cases(items: Sequence[Cases]) -> list[EvalCase]:
    """The cases with unique names: those that were made from a question are numbered."""
    cases = [item if isinstance(item, EvalCase) else EvalCase.from_dict(item) for item in items]
    for case in cases:
        plan_of(case)  # a mistake in a case stops here, before an agent is called
    given = [case.name for case in cases if case.name != label(case.input)]
    _require_unique("cases", given)
    taken, named = set(given), []
    for case in cases:
        name, number = case.name, 1
        is_made = name == label(case.input)
        while is_made and name in taken:
            number += 1
            name = f"{case.name}-{number}"
        taken.add(name)
        named.append(case if name == case.name else replace(case, name=name))
    return named


def _require_unique(what: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"{len(twice)} names are given to several {what}: {', '.join(twice)[:300]}"
        )


# The agent and the judge


def _is_name(agent: Any, suites: Sequence[Suite]) -> bool:
    """Whether `agent` is the name of an agent of the suites, and not a reference to code."""
    named = isinstance(agent, str) and ":" not in agent
    return named or (isinstance(agent, str) and agent in {a.name for s in suites for a in s.agents})


def _with_agent(suite: Suite, agent: Any) -> Suite:
    """The suite with this agent in place of its own."""
    function = None if isinstance(agent, str) else agent
    if function is not None and (isinstance(agent, type) or not callable(agent)):
        found = f"the class {agent.__name__}" if isinstance(agent, type) else repr(agent)[:100]
        raise UsageError(
            f"agent: expected a callable, `module:function` or a name of the spec, found {found}"
        )
    spec = AgentSpec(
        name=suite.agent,
        kind="runner",
        settings=RunnerSettings(runner=agent if function is None else _name_of(agent)),
        function=function,
    )
    return replace(suite, agents=(spec,))


def _name_of(function: Any) -> str:
    """`module:name` of a function; a partial has the name of what it calls."""
    inner = getattr(function, "func", function)
    known = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{known.__module__}:{known.__qualname__}"


def _judge(given: Any) -> JudgeSettings | Callable[..., Any] | str:
    """The judge: settings, as in the `judge:` block of a spec, or a function."""
    if isinstance(given, Judge):
        given = given.settings if given.function is None else given.function.function
    if isinstance(given, dict):
        problems = Problems()
        given = read_judge({"judge": given}, problems)
        if problems.found:
            raise SpecError(problems.found)
    if isinstance(given, (JudgeSettings, str)):
        return given
    if callable(given):
        function: Callable[..., Any] = given
        return function
    raise UsageError(f"judge: expected settings or a function, found {given!r}"[:300])


# Settings


def _needs_folders(suites: Sequence[Suite]) -> bool:
    """Whether a callable must run alone: the working folder belongs to the whole process."""
    for suite in suites:
        if any(agent.function is not None for agent in suite.agents):
            cases = suite.cases[:1] if isinstance(suite.cases, LazyCases) else suite.cases
            if any(case.setup or case.teardown or case.state for case in cases):
                return True
    return False


_NUMBERS = {"timeout": 0.0, "rate": 0.0, "max_cost": None, "retries": None}
_OPTIONS = (*_NUMBERS, "fail_fast", "judge_cache", "require_baseline")


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    """The remaining options; one that is misspelt or out of range would change what is run."""
    for name, value in settings.items():
        if name not in _OPTIONS:
            raise TypeError(f"run() got an unexpected keyword argument {name!r}")
        if name == "require_baseline" and not isinstance(value, bool):
            raise UsageError(f"{name}: expected true or false, found {value!r}")
        if name in _NUMBERS and value is not None:
            least = _NUMBERS[name]
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not isfinite(value) or value < 0 or value == least:
                raise UsageError(f"{name}: expected a number above 0, found {value!r}")
    return settings


def _whole(name: str, value: Any) -> int:
    if type(value) is not int or value < 1:
        raise UsageError(f"{name}: expected a whole number, 1 or more, found {value!r}")
    return value


def _texts(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _require_callback(on_result: Any) -> None:
    if on_result is None:
        return
    if not callable(on_result):
        raise UsageError(f"on_result: expected a function, found {on_result!r}")
    if inspect.iscoroutinefunction(on_result):
        raise UsageError("on_result: expected a plain function; an async one is not awaited")


def _require_gates(
    rate: float | None, until_decided: bool, fail_on: Sequence[str], repeat: int
) -> None:
    if rate is not None and (isinstance(rate, bool) or not 0 < rate <= 1):
        raise UsageError(f"min_pass_rate: expected a rate above 0 and up to 1, found {rate!r}")
    if until_decided and rate is None:
        raise UsageError("until_decided needs min_pass_rate: the rate to decide about")
    for name in fail_on:
        if name not in FAIL_ON:
            raise UsageError(f"fail_on: expected one of {', '.join(FAIL_ON)}, found {name!r}")
    if fail_on and repeat == 1 and not until_decided:
        raise UsageError("fail_on needs repeat: one attempt per case cannot flip")
