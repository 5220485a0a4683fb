"""Complete the result of an attempt from its trace, or make an ERROR without a verdict."""

from __future__ import annotations

from trialrun.model.case import EvalCase, Suite
from trialrun.model.results import EvaluationResult
from trialrun.model.trace import Trace
from trialrun.pricing import using


def completed(
    result: EvaluationResult, suite: Suite, case: EvalCase, trace: Trace, attempt: int
) -> EvaluationResult:
    """Add suite, attempt number, duration, tokens and cost to the result."""
    result.suite_name = suite.name
    result.attempt = attempt
    result.duration_ms = trace.total_duration_ms
    result.total_tokens = trace.total_tokens
    with using(case.prices):
        result.cost_usd = trace.total_cost_usd
    return result


def error_result(suite: Suite, case: EvalCase, reason: str) -> EvaluationResult:
    """The result of a case that could not be evaluated."""
    return EvaluationResult.without_verdict(
        case.name, reason, suite_name=suite.name, tags=case.tags
    )
