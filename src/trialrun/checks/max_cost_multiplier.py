"""`max_cost_multiplier`: the run costs at most this many times its baseline."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks.base import Check, check, fails, is_unknown, passes
from trialrun.checks.max_cost_usd import why_unpriced
from trialrun.model.results import CheckResult
from trialrun.model.trace import Step, Trace
from trialrun.util.money import dollars, within

_CHEAP = Step.llm_call("m", cost_usd=0.01)
_EXPENSIVE = Step.llm_call("m", cost_usd=0.03)


@check(layer="cost")
class MaxCostMultiplier(Check):
    """Fails when the run costs more than this many times its baseline.

    Skipped, with a message, if there is no baseline or the baseline cost nothing.
    """

    limit: Annotated[float, Meta(gt=0)]

    formula: ClassVar = "actual cost / baseline cost ≤ limit"
    recommended: ClassVar = "2.0 to 3.0 as a guard against cost regressions"
    when_passed: ClassVar = "within the limit"
    examples: ClassVar = (
        passes(3.0, steps=[_EXPENSIVE], baseline_steps=[_CHEAP]),
        fails(2.0, steps=[_EXPENSIVE], baseline_steps=[_CHEAP], because="3.00 times"),
        is_unknown(
            2.0, steps=[Step.llm_call("unlisted-1")], baseline_steps=[_CHEAP], because="unlisted-1"
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if baseline is None:
            return self.skipped("no baseline to compare with")
        before = baseline.total_cost_usd
        if before is None:
            return self.unknown(f"the cost of the baseline is not known: {why_unpriced(baseline)}")
        if before == 0:
            return self.skipped("the baseline cost nothing")
        cost = trace.total_cost_usd
        if cost is None:
            return self.unknown(why_unpriced(trace))
        if within(cost, before * self.limit):
            return self.pass_result
        return self.failed(
            f"{cost / before:.2f} times the baseline ({dollars(cost)} against {dollars(before)}), "
            f"limit {self.limit:g}"
        )
