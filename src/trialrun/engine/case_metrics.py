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
from trialrun.model.results import CheckResult, CheckStatus, MetricResult, Severity
from trialrun.model.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.metrics.base import BaseMetric

_UNKNOWN = CheckStatus.UNKNOWN
_FAILED = CheckStatus.FAIL
_CHECK_PASSED = CheckStatus.PASS

WaitingMetrics = list[tuple[int, MetricPlan, Awaitable[Any]]]
"""Async metrics: the index of each among the results, and what to await."""


def has_calls(baseline: Trace | None) -> bool:
    """Whether there is a baseline that recorded its tool calls and so can be a reference."""
    return baseline is not None and TOOL_CALLS in baseline.recorded


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
) -> tuple[list[MetricResult], WaitingMetrics]:
    """The metrics of the case, and those that have to be awaited."""
    wanted: Sequence[BaseMetric | MetricPlan]
    if metrics is None:
        wanted = default_metrics() if case.metrics is None else case.metrics
    else:
        # The caller may ask for other metrics; the suite's gates apply all the same.
        wanted = [*metrics, *(plan for plan in case.metrics or () if plan.gated)]
    results: list[MetricResult] = []
    waiting: WaitingMetrics = []
    for item in wanted:
        plan = item if type(item) is MetricPlan else MetricPlan.of(item)  # type: ignore[arg-type]
        made: Any
        try:
            made = plan.metric.calculate(
                trace, case if plan.is_simple else _case_for(case, baseline, plan)
            )
        except BaseException as error:
            made = crashed(plan.metric, error)
        if not plan.is_simple:
            if hasattr(made, "__await__"):
                waiting.append((len(results), plan, made))
                made = MetricResult(_name(plan.metric), None)
            else:
                made = validated(plan, made)
        results.append(made)
    return results, waiting


def _case_for(case: EvalCase, baseline: Trace | None, plan: MetricPlan) -> EvalCase:
    """The case for a custom metric: a copy, so that the metric cannot change the case."""
    return replace(_with_reference(case, baseline) if plan.uses_reference else case)


def _with_reference(case: EvalCase, baseline: Trace | None) -> EvalCase:
    """The case; if it names no reference, the baseline's tool calls become its reference."""
    if baseline is None or not has_calls(baseline) or case.reference_tools is not None:
        return case
    return replace(case, reference_tools=baseline.tool_call_sequence)


def crashed(metric: BaseMetric, error: BaseException) -> MetricResult:
    """The result of a metric that crashed: the error is reported and the run continues."""
    return MetricResult(_name(metric), None, None, {}, crash(error))


def _name(metric: BaseMetric) -> str:
    name = getattr(metric, "name", None)
    return name if isinstance(name, str) and name else type(metric).__name__


def _is_number(value: Any) -> bool:
    try:
        return value is None or (type(value) in (float, int) and isfinite(value))
    except OverflowError:  # an integer too large for a float
        return False


def validated(plan: MetricPlan, made: Any) -> MetricResult:
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
        if not _is_number(made.value):
            result.value, result.error = (
                None,
                f"the value is {short_repr(made.value)}, not a number",
            )
    if plan.gated:
        result.gate = _gate(plan, result)
    return result


def _plain_details(details: Any) -> dict[str, Any]:
    """Details as plain values that any report can write; a custom metric may return anything."""
    try:
        plain = msgspec.to_builtins(details, enc_hook=short_repr, str_keys=True)
    except (RecursionError, TypeError, ValueError):
        plain = None
    return plain if isinstance(plain, dict) else {"details": short_repr(details)} if details else {}


def _gate(plan: MetricPlan, result: MetricResult) -> CheckResult:
    severity = plan.severity or Severity.WARN
    name, value = result.metric_name, result.value
    if value is None:
        reason = result.error or result.details.get("message") or "the value is undefined"
        return CheckResult(name, _UNKNOWN, severity, str(reason))
    if plan.maximum is not None and not reaches(plan.maximum, value):
        return CheckResult(name, _FAILED, severity, f"{value:g}, at most {plan.maximum:g}")
    if plan.minimum is not None and not reaches(value, plan.minimum):
        return CheckResult(name, _FAILED, severity, f"{value:g}, at least {plan.minimum:g}")
    return CheckResult(name, _CHECK_PASSED, severity, "within its bounds")


def short_repr(value: Any) -> str:
    """A custom object for a message, cut to 60 characters; its `__repr__` may raise."""
    try:
        return f"{value!r:.60}"
    except Exception:
        return f"something of the type {type(value).__name__}"
