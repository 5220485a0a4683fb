"""`Evaluator`: evaluation as an object that keeps its checks, its metrics and its judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import replace

from trialrun import registry
from trialrun.checks._functions import kind_of
from trialrun.checks.base import Check, own_fields
from trialrun.engine.case_metrics import default_metrics
from trialrun.engine.evaluate import evaluate, evaluate_async
from trialrun.errors import UsageError
from trialrun.model.case import EvalCase, LayerPlan, Plan
from trialrun.model.results import EvaluationResult
from trialrun.model.trace import Trace
from trialrun.spec.case import plan_of
from trialrun.spec.validation import Place, Problems, Unreadable, field_types, read
from trialrun.util.texts import did_you_mean

if TYPE_CHECKING:
    from trialrun.judge import Judge
    from trialrun.metrics.base import BaseMetric


class Evaluator:
    """Evaluates traces with a fixed list of metrics; default: the four default metrics.

    `checks` are applied to every case in addition to its own: objects such as
    `MaxToolCalls(limit=3)`, functions such as `def polite(answer)`, or dicts such as
    `{"max_tool_calls": 3}`. Rubric checks ask the `judge`; without one they are unknown.
    """

    def __init__(
        self,
        metrics: Sequence[BaseMetric] | None = None,
        judge: Judge | None = None,
        checks: Sequence[Check | dict[str, Any]] = (),
    ) -> None:
        if metrics is None:
            metrics = [plan.metric for plan in default_metrics()]
        self.metrics: list[BaseMetric] = list(metrics)
        self.judge = judge
        self.checks: list[Check] = [made for given in checks for made in _checks_of(given)]

    def add_metric(self, metric: BaseMetric) -> None:
        """Compute this metric too."""
        self.metrics.append(metric)

    def add_check(self, check: Check | dict[str, Any]) -> None:
        """Apply this check too."""
        self.checks += _checks_of(check)

    def evaluate(
        self, trace: Trace, test_case: EvalCase, baseline: Trace | None = None
    ) -> EvaluationResult:
        """Evaluate the trace against the case. Trace and case may change places."""
        case, run = self._case_and_trace(trace, test_case)
        return evaluate(case, run, baseline, metrics=self.metrics, judge=self.judge)

    async def evaluate_async(
        self, trace: Trace, test_case: EvalCase, baseline: Trace | None = None
    ) -> EvaluationResult:
        """The same for async callers."""
        case, run = self._case_and_trace(trace, test_case)
        return await evaluate_async(case, run, baseline, metrics=self.metrics, judge=self.judge)

    def _case_and_trace(self, trace: Any, case: Any) -> tuple[EvalCase, Trace]:
        if isinstance(trace, EvalCase):
            trace, case = case, trace
        if self.checks and isinstance(case, EvalCase):
            case = replace(case, plan=_with_checks(plan_of(case), self.checks))
        return case, trace


def _checks_of(given: Any) -> list[Check]:
    """The check, or the checks of a dict of names and values."""
    if isinstance(given, Check):
        _require_valid(given)
        return [given]
    if callable(given) and not isinstance(given, type):
        try:
            return [kind_of(given)()]
        except ValueError as error:
            raise UsageError(f"checks: {given!r:.100} cannot be a check: {error}") from None
    if isinstance(given, dict) and given:
        return [_check_of(name, value) for name, value in given.items()]
    raise UsageError(
        "checks: expected a check such as MaxToolCalls(limit=3), a function or a dict such as "
        f"{{'max_tool_calls': 3}}, found {given!r}"[:300]
    )


def _require_valid(check: Check) -> None:
    """UsageError if a setting is not what a spec could give.

    `ForbiddenTools("rm")` would forbid the tools `r` and `m`, and pass.
    """
    parts = check.__dict__.get("groups")
    if parts is not None:  # a combination: its parts are checks
        for part in (one for group in parts for one in group):
            _require_valid(part)
        return
    types = field_types(type(check))
    for name in own_fields(type(check)):
        value = getattr(check, name)
        problems = Problems()
        try:
            if value is not None:
                read(to_builtins(value, enc_hook=lambda one: one), types[name], Place(), problems)
        except Unreadable:
            reason = "; ".join(problem.message for problem in problems.found)
            raise UsageError(f"checks: {check.name}: {name}: {reason}") from None


def _check_of(name: str, value: Any) -> Check:
    kind = registry.find_check(name)
    if kind is None:
        hint = did_you_mean(name, registry.names(registry.CHECKS))
        raise UsageError(f"checks: unknown check `{name}`{hint}")
    plan = plan_of(EvalCase.from_dict({"query": "any", kind.layer: {name: value}}))
    made = [*(check for layer in plan.free for check in layer.checks), *plan.judges]
    return next(check for check in made if isinstance(check, kind))


def _with_checks(plan: Plan, checks: Sequence[Check]) -> Plan:
    """The plan of a case with further checks."""
    free = [check for check in checks if not check.judged]
    return replace(
        plan,
        free=_merged(plan.free, free),
        with_reference=_merged(plan.with_reference, free),
        judges=[*plan.judges, *(check for check in checks if check.judged)],
        needs=plan.needs.union(*(check.needs for check in free)),
        takes_case=plan.takes_case or any(check.takes_case for check in free),
    )


def _merged(layers: Sequence[LayerPlan], checks: Sequence[Check]) -> list[LayerPlan]:
    by_layer: dict[str, list[Check]] = {layer.name: list(layer.checks) for layer in layers}
    for check in checks:
        by_layer.setdefault(check.layer, []).append(check)
    return [LayerPlan.of(name, found) for name, found in by_layer.items()]
