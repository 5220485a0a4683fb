"""Compute the metrics of a case, validate their values and evaluate their gates."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from trialrun.errors import crash
from trialrun.measures.ratios import reaches
from trialrun.model.case import EvalCase, MetricPlan
from trialrun.model.evidence import ANSWER, TOOL_CALLS, WITHOUT_STEPS, missing, not_recorded
from trialrun.model.results import CheckResult, CheckStatus, MetricResult, Severity
from trialrun.model.trace import Trace
from trialrun.util.plain import as_number
from trialrun.util.texts import short_repr

if TYPE_CHECKING:
    from trialrun.metrics.base import BaseMetric

_UNKNOWN = CheckStatus.UNKNOWN
_FAILED = CheckStatus.FAIL
_CHECK_PASSED = CheckStatus.PASS

WaitingMetrics = list[tuple[int, MetricPlan, Awaitable[Any], Trace]]
"""Async metrics: the index of each among the results, what to await, and for which trace."""


@lru_cache(maxsize=1)
def default_metrics() -> tuple[MetricPlan, ...]:
    """The metrics of a case whose spec names none."""
    from trialrun import registry
    from trialrun.metrics.base import DEFAULT_METRICS

    kinds = [registry.find_metric(name) for name in DEFAULT_METRICS]
    return tuple(MetricPlan.of(kind()) for kind in kinds if kind is not None)


def measure(
    case: EvalCase,
    trace: Trace,
    baseline: Trace | None,
    metrics: Sequence[BaseMetric | MetricPlan] | None,
    error: str | None,
) -> tuple[list[MetricResult], WaitingMetrics]:
    """The metrics of the case, and those that have to be awaited.

    `error` says why there is no answer, if there is none.
    """
    if metrics is None:
        wanted = default_metrics() if case.metrics is None else case.metrics
    else:
        # The caller may ask for other metrics; the suite's gates apply all the same.
        asked = [one if isinstance(one, MetricPlan) else MetricPlan.of(one) for one in metrics]
        wanted = [*asked, *(plan for plan in case.metrics or () if plan.gated)]
    results: list[MetricResult] = []
    waiting: WaitingMetrics = []
    recorded = trace.recorded if error is None else trace.recorded - {ANSWER}
    for plan in wanted:
        made: Any
        if not plan.needs <= recorded:
            lacking = missing(plan.needs, recorded)
            if lacking:
                made = _undefined(plan.metric, error or not_recorded(lacking))
                results.append(made if plan.is_simple else validated(plan, made, trace))
                continue
        try:
            if plan.is_simple:
                made = plan.metric.calculate(trace, case)
                if plan.lacks is not None:
                    made = _supported(plan, made, trace)
                results.append(made)
                continue
            made = plan.metric.calculate(trace, _case_for(case, baseline, plan))
        except BaseException as problem:
            made = crashed(plan.metric, problem)
        if hasattr(made, "__await__"):
            waiting.append((len(results), plan, made, trace))
            made = MetricResult(_name(plan.metric), None)
        else:
            made = validated(plan, made, trace)
        results.append(made)
    return results, waiting


def _undefined(metric: BaseMetric, reason: str) -> MetricResult:
    unit = getattr(metric, "unit", None)
    return MetricResult(_name(metric), None, unit, {"message": reason})


def _case_for(case: EvalCase, baseline: Trace | None, plan: MetricPlan) -> EvalCase:
    """The case for a custom metric: a copy, so that the metric cannot change the case."""
    return replace(_with_reference(case, baseline) if plan.uses_reference else case)


def _with_reference(case: EvalCase, baseline: Trace | None) -> EvalCase:
    """The case; if it names no reference, the baseline's tool calls become its reference."""
    if case.reference_tools is not None or baseline is None or TOOL_CALLS not in baseline.recorded:
        return case
    return replace(case, reference_tools=baseline.tool_call_sequence)


def crashed(metric: BaseMetric, error: BaseException) -> MetricResult:
    """The result of a metric that crashed: the error is reported and the run continues."""
    return MetricResult(_name(metric), None, None, {}, crash(error))


def _name(metric: BaseMetric) -> str:
    name = getattr(metric, "name", None)
    return name if isinstance(name, str) and name else type(metric).__name__


def _as_value(value: Any) -> float | None:
    """The plain number, of numpy's types too; None if it is not a finite number."""
    number = as_number(value)
    try:
        return number if number is not None and isfinite(number) else None
    except OverflowError:  # an integer too large for a float
        return None


def validated(plan: MetricPlan, made: Any, trace: Trace) -> MetricResult:
    """The metric's result with every field validated and its gate evaluated."""
    metric = plan.metric
    if not isinstance(made, MetricResult):
        result = crashed(
            metric, TypeError(f"calculate returned {short_repr(made)}, not a MetricResult")
        )
    else:
        result = MetricResult(
            made.metric_name if isinstance(made.metric_name, str) else _name(metric),
            made.value,
            made.unit if isinstance(made.unit, str) else None,
            _plain_details(made.details),
            made.error
            if made.error is None or isinstance(made.error, str)
            else short_repr(made.error),
        )
        result.value = _as_value(made.value)
        if result.value is None and made.value is not None:
            result.error = f"the value is {short_repr(made.value)}, not a number"
    if plan.lacks is not None:
        try:
            result = _supported(plan, result, trace)
        except BaseException as error:
            result = crashed(metric, error)
    if plan.gated:
        result.gate = _gate(plan, result, trace)
    return result


def _supported(plan: MetricPlan, result: MetricResult, trace: Trace) -> MetricResult:
    """The result, or one without a value if the metric says that the trace does not support it."""
    if result.value is None:
        return result
    reason = plan.lacks(trace, result)  # type: ignore[misc]
    return result if reason is None else _undefined(plan.metric, str(reason))


def _plain_details(details: Any) -> dict[str, Any]:
    """Details as plain values that any report can write; a custom metric may return anything."""
    try:
        plain = msgspec.to_builtins(details, enc_hook=short_repr, str_keys=True)
    except (RecursionError, TypeError, ValueError):
        plain = None
    return plain if isinstance(plain, dict) else {"details": short_repr(details)} if details else {}


def _gate(plan: MetricPlan, result: MetricResult, trace: Trace) -> CheckResult:
    severity = plan.severity or Severity.WARN
    name, value = result.metric_name, result.value
    if value is None:
        reason = result.error or result.details.get("message") or "the value is undefined"
        return CheckResult(name, _UNKNOWN, severity, str(reason))
    if not plan.says_needs and trace.recorded <= WITHOUT_STEPS:
        reason = "the steps were not recorded, and the metric does not say what it needs (`needs`)"
        return CheckResult(name, _UNKNOWN, severity, reason)
    bounds = {"minimum": plan.minimum, "limit": plan.maximum}
    data = {"found": value} | {key: bound for key, bound in bounds.items() if bound is not None}
    above = plan.maximum is not None and not reaches(plan.maximum, value)
    below = plan.minimum is not None and not reaches(value, plan.minimum)
    status = _FAILED if above or below else _CHECK_PASSED
    texts = [f"{value:,.6g}"]
    if plan.minimum is not None and not above:
        texts.append(f"at least {plan.minimum:g}")
    if plan.maximum is not None and not below:
        texts.append(f"at most {plan.maximum:g}")
    return CheckResult(name, status, severity, ", ".join(texts), data=data)
