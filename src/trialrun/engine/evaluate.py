"""The one road from a trace to a verdict.

Free checks first, then metrics, then judges, and judges only where no free check has failed the
layer of correctness. All of it is plain function calls; only a metric that is `async`, and a judge,
need an event loop, and only then is one started.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from trialrun.engine.case_metrics import (
    WaitingMetrics,
    broken,
    checked,
    has_calls,
    measure,
    shown,
)
from trialrun.errors import UsageError, crash
from trialrun.model.case import EvalCase, LayerPlan, MetricPlan, Plan
from trialrun.model.results import (
    LAYERS,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    LayerStatus,
    Severity,
    fold_checks,
    fold_layers,
)
from trialrun.model.trace import EVIDENCE, UNPREPARED, Trace, TraceStatus
from trialrun.spec.case import plan_of

if TYPE_CHECKING:
    from trialrun.checks.base import Check
    from trialrun.engine.rubrics import Asked
    from trialrun.judge import Judge
    from trialrun.metrics.base import BaseMetric

_UNKNOWN = CheckStatus.UNKNOWN
_FAILED = LayerStatus.FAIL
_ERROR = LayerStatus.ERROR
_SKIP = LayerStatus.SKIP
_TIMEOUT = TraceStatus.TIMEOUT
_CRASHED = TraceStatus.ERROR

_NOTHING_ASKED = dict.fromkeys(LAYERS, LayerResult(_SKIP))
_ANSWER = "answer"
NO_JUDGE = "no judge configured"
_LONGEST_REASON = 2000
_ALL_AND_ANSWER = EVIDENCE | {_ANSWER}

Found = dict[str, LayerResult]


def evaluate(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None = None,
    *,
    metrics: Sequence[BaseMetric | MetricPlan] | None = None,
    judge: Judge | None = None,
) -> EvaluationResult:
    """Hold a trace against a case. Works with and without a running event loop.

    Rubric checks are put to the `judge`; without one they are unknown.
    """
    result, waiting = _judge(case, trace, baseline, metrics, judge)
    if waiting is not None:
        run_coroutine(_finish(case, result, waiting))
    return result


async def evaluate_async(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None = None,
    *,
    metrics: Sequence[BaseMetric | MetricPlan] | None = None,
    judge: Judge | None = None,
) -> EvaluationResult:
    """The same for callers that are async themselves."""
    result, waiting = _judge(case, trace, baseline, metrics, judge)
    if waiting is not None:
        await _finish(case, result, waiting)
    return result


class _Waiting:
    """What is left to do in an event loop: metrics that are async, and questions to a judge."""

    __slots__ = ("asked", "judge", "metrics")

    def __init__(
        self, metrics: WaitingMetrics, asked: Sequence[Asked], judge: Judge | None
    ) -> None:
        self.metrics = metrics
        self.asked = asked
        self.judge = judge


def _judge(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None,
    metrics: Sequence[BaseMetric | MetricPlan] | None,
    judge: Judge | None,
) -> tuple[EvaluationResult, _Waiting | None]:
    if type(case) is not EvalCase or type(trace) is not Trace:
        kinds = f"{type(case).__name__} and {type(trace).__name__}"
        raise UsageError(f"evaluate takes a case, then a trace; found {kinds}")
    if case.prices is not None:
        from trialrun import pricing

        if pricing.active_book() is not case.prices:
            with pricing.using(case.prices):
                return _judge(case, trace, baseline, metrics, judge)
    plan = case.plan or plan_of(case)
    error = _why_no_answer(trace)
    found: Found = {}
    asked: list[Asked] | None = None if judge is None else []
    if _judge_plan(plan, trace, baseline, error, found, asked is not None):
        assert asked is not None
        asked.append(_asked(plan.judges, trace, None))
    if case.turns:
        error = _judge_turns(case, trace, baseline, found, asked) or error
    measured, later = measure(case, trace, baseline, metrics)
    result = EvaluationResult(
        case_name=case.name,
        status=_SKIP,
        layers=_NOTHING_ASKED | found,
        metrics=measured,
        error=error,
        trace_id=trace.id,
        tags=case.tags,
    )
    if later or asked:
        return result, _Waiting(later, asked or (), judge)
    _conclude(result)
    return result, None


def _conclude(result: EvaluationResult) -> None:
    """The status of the case, once all of it is known."""
    statuses = [layer.status for layer in result.layers.values()]
    statuses += [fold_checks((metric.gate,)) for metric in result.metrics if metric.gate]
    if result.error is not None:
        statuses.append(_ERROR)
    result.status = fold_layers(statuses)
    if result.status is _ERROR and _ERROR not in statuses:
        asked = any(layer.checks for layer in result.layers.values())
        result.error = "every check was skipped" if asked else "nothing was asked of this case"


def _why_no_answer(trace: Trace) -> str | None:
    status = trace.status
    if status is _TIMEOUT:
        return f"the agent timed out{_because(trace)}"
    if UNPREPARED in trace.metadata:
        return f"the setup failed{_because(trace)}"
    if status is _CRASHED:
        return f"the agent crashed{_because(trace)}"
    if trace.output is None:
        return f"the agent gave no answer{_because(trace)}"
    return None


def _because(trace: Trace) -> str:
    return f": {trace.error[:_LONGEST_REASON]}" if trace.error else ""


# Checks


def _judge_plan(
    plan: Plan,
    trace: Trace,
    baseline: Trace | None,
    error: str | None,
    found: Found,
    has_judge: bool,
) -> bool:
    """Judge by all that is free; whether its rubrics are still to be put to a judge."""
    if error is not None:
        evidence = trace.recorded
    elif trace.recorded is EVIDENCE:
        evidence = _ALL_AND_ANSWER
    else:
        evidence = trace.recorded | {_ANSWER}
    referenced = plan.has_reference or has_calls(baseline)
    if not plan.needs <= evidence:
        plan = _without_evidence(plan, referenced, evidence, error)
    for layer in plan.with_reference if referenced else plan.free:
        try:
            results = [check.judge(trace, baseline) for check in layer.checks]
        except BaseException as problem:  # one of them crashed; the others have something to say
            crash(problem)
            results = [_judged(check, trace, baseline) for check in layer.checks]
        if results == layer.passes:
            found[layer.name] = layer.when_all_pass
        else:
            _add(found, layer.name, list(map(_sound, layer.checks, results)))
    for name, settled in plan.settled:
        _add(found, name, [settled])
    if not plan.judges:
        return False
    rubrics = _rubrics(plan.judges, evidence, found, error, has_judge)
    if rubrics is not None:
        _add_each(found, plan.judges, rubrics)
    return rubrics is None


def _add(found: Found, layer: str, checks: Sequence[CheckResult]) -> None:
    """Take further results into a layer."""
    if layer in found:
        checks = [*found[layer].checks, *checks]
    found[layer] = LayerResult(fold_checks(checks), checks)


def _add_each(found: Found, checks: Sequence[Check], results: Sequence[CheckResult]) -> None:
    """Take the results of checks that ask a judge into the layer of each."""
    for layer in dict.fromkeys(check.layer for check in checks):
        pairs = zip(checks, results, strict=True)
        _add(found, layer, [result for check, result in pairs if check.layer == layer])


def _judged(check: Check, trace: Trace, baseline: Trace | None) -> CheckResult:
    """What the check says. One that crashes is a finding, not the end of the run."""
    try:
        return check.judge(trace, baseline)
    except BaseException as error:
        return check.unknown(f"the check itself failed: {crash(error)}")


def _sound(check: Check, result: Any) -> CheckResult:
    """The result, if it is one in every part: a status of an unknown kind is not a pass."""
    if type(result) is not CheckResult:
        if hasattr(result, "close"):
            result.close()  # an `async def judge`: its coroutine will not be waited for
        return check.unknown(f"the check returned {shown(result)}, not a CheckResult")
    texts = isinstance(result.message, str) and isinstance(result.name, str)
    if texts and type(result.status) is CheckStatus and type(result.severity) is Severity:
        return result
    try:
        status, severity = CheckStatus(result.status), Severity(result.severity)
    except ValueError:
        return check.unknown(f"the check returned an unsound result: {shown(result)}")
    message = result.message if isinstance(result.message, str) else ""
    return CheckResult(check.name, status, severity, message)


def _without_evidence(
    plan: Plan, referenced: bool, evidence: frozenset[str], error: str | None
) -> Plan:
    """The plan for a trace that did not record all of it: what cannot be judged is settled."""
    layers = plan.with_reference if referenced else plan.free
    settled = [
        (layer.name, check.unknown(_missing(check.needs - evidence, error)))
        for layer in layers
        for check in layer.checks
        if not check.needs <= evidence
    ]
    able = [
        (layer.name, [check for check in layer.checks if check.needs <= evidence])
        for layer in layers
    ]
    kept = [LayerPlan.of(name, checks) for name, checks in able if checks]
    return replace(plan, free=kept, with_reference=kept, settled=(*settled, *plan.settled))


def _missing(kinds: frozenset[str], error: str | None) -> str:
    if error is not None:
        return error  # why there is no evidence either
    return f"not recorded in this trace: {', '.join(sorted(kinds))}"


def _asked(judges: Sequence[Check], trace: Trace, turn: int | None) -> Asked:
    from trialrun.engine.rubrics import Asked

    return Asked(judges, trace, turn)


def _rubrics(
    judges: Sequence[Check],
    evidence: frozenset[str],
    found: Found,
    error: str | None,
    has_judge: bool,
) -> list[CheckResult] | None:
    """Judges cost money: none is asked about an answer that a free check has already failed.

    A check that only warns has failed nothing yet: it must not silence a judge that would. None
    where they are to be asked.
    """
    if error is not None:
        return [check.unknown(error) for check in judges]
    free = found.get("correctness")
    if free is not None and free.status is _FAILED:
        return [check.skipped("a free correctness check failed") for check in judges]
    if has_judge:
        return None
    return [
        check.unknown(
            NO_JUDGE if check.needs <= evidence else _missing(check.needs - evidence, None)
        )
        for check in judges
    ]


def _judge_turns(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None,
    found: Found,
    asked: list[Asked] | None,
) -> str | None:
    """Each turn by its own expectations, on its own part of the trace; why one has no answer."""
    silence = None
    turns = trace.turns()
    earlier = baseline.turns() if baseline is not None else []
    have = f"{len(turns)} turn{'' if len(turns) == 1 else 's'}"
    reason = f"the trace has only {have}"
    if len(turns) > len(case.turns):
        # What the agent did in a turn that nobody asked for would go unseen.
        silence = f"the trace has {have}, the case asks for {len(case.turns)}"
    for number, turn in enumerate(case.turns, 1):
        plan = turn.plan or plan_of(turn)
        here: Found = {}
        if number <= len(turns):
            before = earlier[number - 1] if number <= len(earlier) else None
            part = turns[number - 1]
            error = _why_no_answer(part)
            if _judge_plan(plan, part, before, error, here, asked is not None):
                assert asked is not None
                asked.append(_asked(plan.judges, trace, number))
            if error is not None:
                silence = silence or f"turn {number}: {error}"
        else:
            silence = silence or reason
            silent = Trace(input=turn.query, recorded=frozenset())
            _judge_plan(plan, silent, None, reason, here, False)
        for layer, result in here.items():
            checks = [replace(check, turn=number) for check in result.checks]
            if number > len(turns):
                checks = [replace(check, status=_UNKNOWN, message=reason) for check in checks]
            _add(found, layer, checks)
    return silence


async def _finish(case: EvalCase, result: EvaluationResult, waiting: _Waiting) -> None:
    """Wait for the metrics that are async, and for the judge, then conclude."""
    if case.prices is not None:
        from trialrun import pricing

        if pricing.active_book() is not case.prices:
            with pricing.using(case.prices):
                await _finish(case, result, waiting)
            return
    for position, plan, made in waiting.metrics:
        try:
            settled = await made
        except BaseException as error:
            if _is_cancelled():
                raise  # the caller's own task, not the metric's
            settled = broken(plan.metric, error)
        result.metrics[position] = checked(plan, settled)
    if waiting.asked:
        assert waiting.judge is not None
        await _ask_judge(result, waiting.asked, waiting.judge)
    _conclude(result)


async def _ask_judge(result: EvaluationResult, asked: Sequence[Asked], judge: Judge) -> None:
    """Put the rubrics to the judge; those of different turns at once."""
    import asyncio

    from trialrun.engine import rubrics

    async with judge:
        answers = await asyncio.gather(*(rubrics.ask(one, judge) for one in asked))
    verdicts = []
    for one, checks in zip(asked, answers, strict=True):
        verdicts += [verdict for check in checks for verdict in check.verdicts]
        if one.turn is not None:
            checks = [replace(check, turn=one.turn) for check in checks]
        _add_each(result.layers, one.checks, checks)
    result.judge = rubrics.spend_of(verdicts)


def _is_cancelled() -> bool:
    import asyncio

    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


Made = TypeVar("Made")


def run_coroutine(coroutine: Coroutine[Any, Any, Made]) -> Made:
    """Run to the end: here, or in a thread of its own where a loop is running (a notebook)."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
