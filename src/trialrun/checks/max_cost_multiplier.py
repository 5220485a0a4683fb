"""`max_cost_multiplier`: the run costs at most this many times its baseline."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks.base import Check, Description, check, fails, is_unknown, passes
from trialrun.checks.max_cost_usd import why_unpriced
from trialrun.model.baseline import median_cost
from trialrun.model.results import NO_BASELINE, CheckResult
from trialrun.model.trace import COSTS, Step, Trace
from trialrun.util.money import dollars, within

_CHEAP = Step.llm_call("m", cost_usd=0.01)
_EXPENSIVE = Step.llm_call("m", cost_usd=0.03)


@check(layer="cost", needs={COSTS})
class MaxCostMultiplier(Check):
    """Fails when the run costs more than this many times its baseline.

    Skipped, with a message, if there is no baseline or the baseline cost nothing.
    """

    limit: Annotated[float, Meta(gt=0)]

    against_baseline: ClassVar = True
    shareable: ClassVar = True
    formula: ClassVar = "actual cost / baseline cost ≤ limit"
    recommended: ClassVar = "2.0 to 3.0 as a guard against cost regressions"
    examples: ClassVar = (
        passes(3.0, steps=[_EXPENSIVE], baseline_steps=[_CHEAP]),
        fails(2.0, steps=[_EXPENSIVE], baseline_steps=[_CHEAP], because="3.00 times"),
        is_unknown(
            2.0, steps=[Step.llm_call("unlisted-1")], baseline_steps=[_CHEAP], because="unlisted-1"
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if baseline is None:
            return self.skipped(NO_BASELINE)
        before = baseline.total_cost_usd if type(baseline) is Trace else median_cost(baseline)
        if before is None:
            return self.unknown(f"the cost of the baseline is not known: {why_unpriced(baseline)}")
        if before == 0:
            return self.skipped("the baseline cost nothing")
        cost = trace.total_cost_usd
        if cost is None:
            return self.unknown(why_unpriced(trace))
        if cost <= before * self.limit or within(cost, before * self.limit):
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        cost = trace.total_cost_usd or 0.0
        before = (baseline and median_cost(baseline)) or 0.0
        text = (
            f"{cost / before:.2f} times the baseline ({dollars(cost)} against {dollars(before)}), "
            f"limit {self.limit:g}"
        )
        found = {"found": cost / before, "limit": self.limit, "cost_usd": cost}
        return text, found | {"baseline_cost_usd": before}
