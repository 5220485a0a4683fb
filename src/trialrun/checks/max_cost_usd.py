"""`max_cost_usd`: the run costs at most this many dollars."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from trialrun.checks._limits import exceeding
from trialrun.checks.base import Check, Description, Dollars, check, fails, is_unknown, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import COSTS, TOKENS, Step, Trace
from trialrun.util.money import dollars, within

_CALL = Step.llm_call("m", cost_usd=0.02)


@check(layer="cost", needs={COSTS})
class MaxCostUsd(Check):
    """Fails when the run costs more dollars than this. Equal is within the limit.

    Recorded costs come first; otherwise costs are computed from tokens. A call with neither a
    recorded cost nor a known price makes the total unknown, and the message names its model: an
    unknown price is not $0.
    """

    limit: Dollars

    shareable: ClassVar = True
    formula: ClassVar = "trace.total_cost_usd ≤ limit"
    examples: ClassVar = (
        passes(0.02, steps=[_CALL]),
        fails(0.01, steps=[_CALL], because="$0.02, limit $0.01"),
        is_unknown(1.0, steps=[_CALL, Step.llm_call("unlisted-1")], because="unlisted-1"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        cost = trace.total_cost_usd
        if cost is None:
            return self.unknown(why_unpriced(trace))
        if cost <= self.limit or within(cost, self.limit):
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        cost = trace.total_cost_usd or 0.0
        data = {"found": cost, "limit": self.limit}
        if not within(cost, self.limit):
            from trialrun.pricing import step_cost

            costs = (step_cost(step) or 0.0 for step in trace.steps)
            data |= exceeding(trace.steps, costs, self.limit)
        return self.message(trace, baseline), data

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        return f"{dollars(trace.total_cost_usd or 0.0)}, limit {self._limit_shown}"

    @cached_property
    def _limit_shown(self) -> str:
        return dollars(self.limit)


def why_unpriced(trace: Trace) -> str:
    """Why the cost of a run is unknown."""
    if COSTS not in trace.recorded and TOKENS not in trace.recorded:
        return "neither costs nor tokens were recorded"
    from trialrun.pricing import unpriced

    return "; ".join(unpriced(trace.steps))
