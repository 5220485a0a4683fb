"""Evaluate a trace against a case: the only code path from a trace to a verdict.

Free checks run first, then metrics, then judges; judges are asked only if no free check has failed
the correctness layer. Everything is plain function calls; only an `async` metric or a judge needs
an event loop, and one is started only then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trialrun.checks.base import JUDGED_CASE, run_check
from trialrun.checks.base import validated as validated_check
from trialrun.engine.case_metrics import (
    WaitingMetrics,
    crashed,
    measure,
    validated,
)
from trialrun.engine.case_results import earlier_errors, without_baseline
from trialrun.errors import UsageError, crash
from trialrun.model.case import EvalCase, LayerPlan, MetricPlan, Plan
from trialrun.model.check_data import JudgedLayer
from trialrun.model.evidence import ANSWER, TIMINGS, TOOL_CALLS, missing, not_recorded
from trialrun.model.exchanges import LONGEST_SHOWN, add_turns, text_to_show
from trialrun.model.failed_calls import first_failed_calls
from trialrun.model.results import (
    LAYERS,
    NO_CRASH,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    LayerStatus,
)
from trialrun.model.statuses import fold_checks, fold_layers
from trialrun.model.trace import SETUP_FAILED, Trace, TraceStatus
from trialrun.spec.case import plan_of
from trialrun.util.coroutines import run_coroutine as run_coroutine

if TYPE_CHECKING:
    from trialrun.checks.base import Check
    from trialrun.engine.rubrics import RubricChecks
    from trialrun.judge import Judge
    from trialrun.metrics.base import BaseMetric

_UNKNOWN = CheckStatus.UNKNOWN
_DECIDED = (CheckStatus.PASS, CheckStatus.FAIL)
_FAILED = LayerStatus.FAIL
_ERROR = LayerStatus.ERROR
_SKIP = LayerStatus.SKIP
_PASS = LayerStatus.PASS
_TIMEOUT = TraceStatus.TIMEOUT
_CRASHED = TraceStatus.ERROR

_ALL_SKIPPED = dict.fromkeys(LAYERS, LayerResult(_SKIP))
NO_JUDGE = "no judge configured"
_LONGEST_REASON = 2000

LayerResults = dict[str, LayerResult]


def evaluate(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None = None,
    *,
    metrics: Sequence[BaseMetric | MetricPlan] | None = None,
    judge: Judge | None = None,
) -> EvaluationResult:
    """Evaluate a trace against a case. Works with and without a running event loop.

    Rubric checks ask the `judge`; without one they are unknown. Trace and case may change places.
    """
    result, waiting = _evaluate(case, trace, baseline, metrics, judge)
    if waiting is not None:
        run_coroutine(_finish(result, waiting))
    return result


async def evaluate_async(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None = None,
    *,
    metrics: Sequence[BaseMetric | MetricPlan] | None = None,
    judge: Judge | None = None,
) -> EvaluationResult:
    """The same for async callers."""
    result, waiting = _evaluate(case, trace, baseline, metrics, judge)
    if waiting is not None:
        await _finish(result, waiting)
    return result


class _AsyncWork:
    """What is left for an event loop: async metrics, and rubric checks for a judge."""

    __slots__ = ("case", "judge", "metrics", "questions")

    def __init__(
        self,
        case: EvalCase,
        metrics: WaitingMetrics,
        questions: Sequence[RubricChecks],
        judge: Judge | None,
    ) -> None:
        self.case = case
        self.metrics = metrics
        self.questions = questions
        self.judge = judge


def _evaluate(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None,
    metrics: Sequence[BaseMetric | MetricPlan] | None,
    judge: Judge | None,
) -> tuple[EvaluationResult, _AsyncWork | None]:
    if type(case) is not EvalCase or type(trace) is not Trace:
        return _evaluate(*_swapped(case, trace), baseline, metrics, judge)
    if case.prices is not None:
        from trialrun import pricing

        if pricing.active_book() is not case.prices:
            with pricing.using(case.prices):
                made = _evaluate(case, trace, baseline, metrics, judge)
                made[0].settle()  # what it cost is described by these prices, too
                return made
    plan = case.plan or plan_of(case)
    turns = case.turns
    if turns or plan.takes_case:
        JUDGED_CASE.set(case)
    error = why_no_answer(trace)
    found: LayerResults = {}
    questions: list[RubricChecks] | None = None if judge is None else []
    if _evaluate_plan(plan, trace, baseline, error, found, questions is not None):
        assert questions is not None
        questions.append(_rubric_checks(plan.judges, trace, None))
    measured, later = measure(case, trace, baseline, metrics, error)
    if turns:
        error = _evaluate_turns(case, trace, baseline, found, questions) or error
    if case.requires_baseline and baseline is None:
        without_baseline(found)
    question, answer = trace.input, trace.answer_text
    result = EvaluationResult(
        case_name=case.name,
        status=_SKIP,
        layers=_ALL_SKIPPED | found,
        metrics=measured,
        error=error,
        trace_id=trace.id,
        tags=case.tags,
        question=question if len(question) <= LONGEST_SHOWN else text_to_show(question),
        answer=answer if answer is None or len(answer) <= LONGEST_SHOWN else text_to_show(answer),
        duration_ms=trace.total_duration_ms if TIMINGS in trace.recorded else None,
        total_tokens=trace.total_tokens,
        cost_usd=trace.total_cost_usd,
        earlier_errors=earlier_errors(trace) if trace.metadata else (),
        failed_calls=first_failed_calls(trace) if trace.failed_calls else (),
    )
    if turns:
        add_turns(result, trace)
    if later or questions:
        return result, _AsyncWork(case, later, questions or (), judge)
    _conclude(result)
    return result, None


def _swapped(case: object, trace: object) -> tuple[EvalCase, Trace]:
    """Case and trace that were given in the other order."""
    if type(case) is Trace and type(trace) is EvalCase:
        return trace, case
    kinds = f"{type(case).__name__} and {type(trace).__name__}"
    raise UsageError(f"evaluate takes a case and a trace; found {kinds}")


def _conclude(result: EvaluationResult) -> None:
    """Set the status of the case, once all results are known."""
    statuses = [layer.status for layer in result.layers.values()]
    for metric in result.metrics:
        if metric.gate is not None:
            statuses.append(fold_checks((metric.gate,)))
    if result.error is not None:
        statuses.append(_ERROR)
    result.status = status = fold_layers(statuses)
    if status is _PASS or status is _FAILED or _PASS in statuses:
        return  # a check passed or failed
    if not _is_decided(result):
        result.status = _ERROR
        result.error = result.error or _why_undecided(result)


def _is_decided(result: EvaluationResult) -> bool:
    return any(check.status in _DECIDED for _, check in result.checks())


def _why_undecided(result: EvaluationResult) -> str:
    """Why a case without a check that passed or failed is an ERROR, whatever the severities."""
    unknown = [check for _, check in result.checks() if check.status is _UNKNOWN]
    if unknown:
        first = unknown[0]
        return f"no check could be decided: {first.name}: {first.message}"
    return "every check was skipped" if any(result.checks()) else "the case checks nothing"


def why_no_answer(trace: Trace) -> str | None:
    """Why the agent has no answer that can be judged; None if it has."""
    status = trace.status
    if status is _TIMEOUT:
        return f"the agent timed out{_error_detail(trace)}"
    if trace.metadata:
        if SETUP_FAILED in trace.metadata:
            return f"the setup failed{_error_detail(trace)}"
        if NO_CRASH in trace.metadata and trace.error:
            return trace.error[:_LONGEST_REASON]
    if status is _CRASHED:
        return f"the agent crashed{_error_detail(trace)}"
    if trace.output is None:
        return f"the agent gave no answer{_error_detail(trace)}"
    if trace.error:
        return f"the agent reported an error{_error_detail(trace)}"
    return None


def _error_detail(trace: Trace) -> str:
    return f": {trace.error[:_LONGEST_REASON]}" if trace.error else ""


# Checks


def _evaluate_plan(
    plan: Plan,
    trace: Trace,
    baseline: Trace | None,
    error: str | None,
    found: LayerResults,
    has_judge: bool,
) -> bool:
    """Run all free checks. True if the rubrics still need a judge."""
    evidence = trace.recorded if error is None else trace.recorded - {ANSWER}
    referenced = plan.has_reference or (baseline is not None and TOOL_CALLS in baseline.recorded)
    if not plan.needs <= evidence:
        plan = _without_evidence(plan, baseline, referenced, evidence, error)
    judged = trace, trace.steps, baseline
    for layer in plan.with_reference if referenced else plan.free:
        try:
            results = [judge(trace, baseline) for judge in layer.judges]
        except BaseException as problem:  # a check crashed; run the others all the same
            crash(problem)
            results = [run_check(check, trace, baseline) for check in layer.checks]
        if results == layer.passes:
            status = _PASS
        else:
            results = [
                result
                if result is check.pass_result or result is check.fail_result
                else validated_check(check, result)
                for check, result in zip(layer.checks, results, strict=True)
            ]
            status = fold_checks(results)
        found[layer.name] = JudgedLayer(status, layer, results, judged)  # type: ignore[assignment]
    for name, settled in plan.settled:
        _add(found, name, [settled])
    if not plan.judges:
        return False
    rubrics = _rubrics_not_asked(plan.judges, evidence, found, error, has_judge)
    if rubrics is not None:
        _add_each(found, plan.judges, rubrics)
    return rubrics is None


def _add(found: LayerResults, layer: str, checks: Sequence[CheckResult]) -> None:
    """Add results to a layer."""
    if layer in found:
        checks = [*found[layer].checks, *checks]
    found[layer] = LayerResult(fold_checks(checks), checks)


def _add_each(found: LayerResults, checks: Sequence[Check], results: Sequence[CheckResult]) -> None:
    """Add the results of checks that ask a judge, each to its layer."""
    for layer in dict.fromkeys(check.layer for check in checks):
        pairs = zip(checks, results, strict=True)
        _add(found, layer, [result for check, result in pairs if check.layer == layer])


def _without_evidence(
    plan: Plan,
    baseline: Trace | None,
    referenced: bool,
    evidence: frozenset[str],
    error: str | None,
) -> Plan:
    """The plan for a trace that lacks evidence: checks that need it are settled as unknown.

    A check against a baseline is not one of them without a baseline: it is skipped.
    """
    layers = plan.with_reference if referenced else plan.free
    reasons = [
        (
            layer.name,
            check,
            "" if check.against_baseline and baseline is None else _missing(check, evidence, error),
        )
        for layer in layers
        for check in layer.checks
    ]
    settled = [(name, check.unknown(reason)) for name, check, reason in reasons if reason]
    able: dict[str, list[Check]] = {}
    for name, check, reason in reasons:
        if not reason:
            able.setdefault(name, []).append(check)
    kept = [LayerPlan.of(name, checks) for name, checks in able.items()]
    return replace(plan, free=kept, with_reference=kept, settled=(*settled, *plan.settled))


def _missing(check: Check, evidence: frozenset[str], error: str | None) -> str:
    """Why the check cannot be judged; "" if nothing is missing."""
    kinds = missing(check.needs, evidence)
    return (error or not_recorded(kinds)) if kinds else ""


def _rubric_checks(judges: Sequence[Check], trace: Trace, turn: int | None) -> RubricChecks:
    from trialrun.engine.rubrics import RubricChecks

    return RubricChecks(judges, trace, turn)


def _rubrics_not_asked(
    judges: Sequence[Check],
    evidence: frozenset[str],
    found: LayerResults,
    error: str | None,
    has_judge: bool,
) -> list[CheckResult] | None:
    """The results of rubric checks that need no judge; None if the judge has to be asked.

    Judges cost money: none is asked about an answer that a free check has failed. A check that only
    warns does not count: the judge may still fail the answer.
    """
    if error is not None:
        return [check.unknown(error) for check in judges]
    free = found.get("correctness")
    if free is not None and free.status is _FAILED:
        return [check.skipped("a free correctness check failed") for check in judges]
    if has_judge:
        return None
    return [check.unknown(_missing(check, evidence, None) or NO_JUDGE) for check in judges]


def _evaluate_turns(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None,
    found: LayerResults,
    questions: list[RubricChecks] | None,
) -> str | None:
    """Evaluate each turn on its part of the trace; the reason if a turn has no answer."""
    missing = None
    turns = trace.turns()
    earlier = baseline.turns() if baseline is not None else []
    have = f"{len(turns)} turn{'' if len(turns) == 1 else 's'}"
    reason = f"the trace has only {have}"
    if len(turns) > len(case.turns):
        # The checks of the case would not see what the agent did in a turn that it did not ask for.
        missing = f"the trace has {have}, the case asks for {len(case.turns)}"
    for number, turn in enumerate(case.turns, 1):
        plan = turn.plan or plan_of(turn)
        here: LayerResults = {}
        if number <= len(turns):
            before = earlier[number - 1] if number <= len(earlier) else None
            part = turns[number - 1]
            error = why_no_answer(part)
            if _evaluate_plan(plan, part, before, error, here, questions is not None):
                assert questions is not None
                questions.append(_rubric_checks(plan.judges, trace, number))
            if error is not None:
                missing = missing or f"turn {number}: {error}"
        else:
            missing = missing or reason
            silent = Trace(input=turn.query)
            _evaluate_plan(plan, silent, None, reason, here, False)
        for layer, result in here.items():
            checks = [replace(check, turn=number) for check in result.checks]
            if number > len(turns):
                checks = [replace(check, status=_UNKNOWN, message=reason) for check in checks]
            _add(found, layer, checks)
    return missing


async def _finish(result: EvaluationResult, waiting: _AsyncWork) -> None:
    """Await the async metrics and the judge, then set the status."""
    prices = waiting.case.prices
    if prices is not None:
        from trialrun import pricing

        if pricing.active_book() is not prices:
            with pricing.using(prices):
                await _finish(result, waiting)
            return
    for position, plan, made, trace in waiting.metrics:
        try:
            settled = await made
        except BaseException as error:
            if _is_cancelled():
                raise  # the caller's task was cancelled, not the metric
            settled = crashed(plan.metric, error)
        result.metrics[position] = validated(plan, settled, trace)
    if waiting.questions:
        assert waiting.judge is not None
        await _ask_judge(result, waiting.questions, waiting.judge)
    _conclude(result)


async def _ask_judge(
    result: EvaluationResult, questions: Sequence[RubricChecks], judge: Judge
) -> None:
    """Ask the judge about the rubrics; those of different turns concurrently."""
    import asyncio

    from trialrun.engine import rubrics

    async with judge:
        answers = await asyncio.gather(*(rubrics.ask(one, judge) for one in questions))
    verdicts = []
    for one, checks in zip(questions, answers, strict=True):
        verdicts += [verdict for check in checks for verdict in check.verdicts]
        if one.turn is not None:
            checks = [replace(check, turn=one.turn) for check in checks]
        _add_each(result.layers, one.checks, checks)
    result.judge = rubrics.spend_of(verdicts)


def _is_cancelled() -> bool:
    import asyncio

    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
