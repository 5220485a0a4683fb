"""The totals of a result, what a run adds to it, and the ERROR of a case without a verdict."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from trialrun.model.case import EvalCase, Suite
from trialrun.model.evidence import TIMINGS
from trialrun.model.exchanges import Exchange, add_turns, text_to_show
from trialrun.model.results import (
    CheckStatus,
    EvaluationResult,
    LayerResult,
    is_without_baseline,
)
from trialrun.model.statuses import fold_checks
from trialrun.model.trace import Trace
from trialrun.pricing import using


def _totals(trace: Trace) -> dict[str, Any]:
    """Duration, tokens, cost (by the prices in force) and retries; None what was not recorded."""
    # Durations of some of the steps have a sum too, but it is less than the run took.
    return {
        "duration_ms": trace.total_duration_ms if TIMINGS in trace.recorded else None,
        "total_tokens": trace.total_tokens,
        "cost_usd": trace.total_cost_usd,
        "earlier_errors": earlier_errors(trace),
    }


def completed(
    result: EvaluationResult, suite: Suite, attempt: int, brief: bool = False
) -> EvaluationResult:
    """Add the suite and the number of the attempt to the result.

    `brief`: without data of checks that passed.
    """
    result.suite_name = suite.name
    result.attempt = attempt
    result.settle(brief)  # a run keeps many results, and none should keep its trace
    return result


def earlier_errors(trace: Trace) -> tuple[str, ...]:
    """Why the tries before the last one failed; a trace file may have anything in that place."""
    tries = trace.metadata.get("tries")
    if not isinstance(tries, list):
        return ()
    return tuple(str(made["error"]) for made in tries if isinstance(made, dict) and "error" in made)


def error_result(
    suite: Suite, case: EvalCase, reason: str, trace: Trace | None = None
) -> EvaluationResult:
    """The result of a case that could not be evaluated; the totals of its trace still count."""
    with using(case.prices):
        spent = {} if trace is None else _totals(trace)
    result = EvaluationResult.without_verdict(
        case.name, reason, suite_name=suite.name, tags=case.tags, **spent
    )
    add_exchange(result, case, trace)
    return result


def add_exchange(result: EvaluationResult, case: EvalCase, trace: Trace | None) -> None:
    """Add the question and answer of the trace; without a trace, the question of the case."""
    if trace is not None:
        result.question = text_to_show(trace.input)
        result.answer = text_to_show(trace.answer_text)
        if case.turns:
            add_turns(result, trace)
        return
    result.question = text_to_show(case.input)
    result.turns = tuple(Exchange(text_to_show(turn.query) or "") for turn in case.turns)


def without_baseline(found: dict[str, LayerResult]) -> None:
    """Make the checks unknown that were skipped for lack of a baseline: one is required."""
    for name, layer in found.items():
        if any(map(is_without_baseline, layer.checks)):
            checks = [
                replace(check, status=CheckStatus.UNKNOWN) if is_without_baseline(check) else check
                for check in layer.checks
            ]
            found[name] = LayerResult(fold_checks(checks), checks)
