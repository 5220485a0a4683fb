"""`max_latency_multiplier`: the run takes at most this many times as long as its baseline."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks.base import Check, Description, check, fails, is_unknown, passes
from trialrun.model.baseline import median_duration
from trialrun.model.results import NO_BASELINE, CheckResult
from trialrun.model.trace import TIMINGS, Step, Trace

_SLOW = Step.llm_call("m", duration_ms=300)
_QUICK = Step.llm_call("m", duration_ms=100)


@check(layer="regression", needs={TIMINGS}, order=50)
class MaxLatencyMultiplier(Check):
    """Fails when the run takes more than this many times as long as its baseline.

    With a baseline of several repeats, their median counts. Skipped if there is no baseline, or if
    it took no time.
    """

    limit: Annotated[float, Meta(gt=0)]

    against_baseline: ClassVar = True
    shareable: ClassVar = True
    formula: ClassVar = "actual duration / median baseline duration ≤ limit"
    recommended: ClassVar = "2.0 to 5.0: durations vary with the load of a machine"
    examples: ClassVar = (
        passes(3.0, steps=[_SLOW], baseline_steps=[_QUICK]),
        fails(2.0, steps=[_SLOW], baseline_steps=[_QUICK], because="3.00 times"),
        is_unknown(2.0, steps=[_SLOW], baseline_steps=[Step.llm_call("m")], because="baseline"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if baseline is None:
            return self.skipped(NO_BASELINE)
        before, took = median_duration(baseline), trace.total_duration_ms
        if before is None or took is None:
            return self.unknown("the duration of the run or of its baseline was not recorded")
        if before == 0:
            return self.skipped("the baseline took no time")
        if took <= before * self.limit:
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        before = (baseline and median_duration(baseline)) or 0.0
        took = trace.total_duration_ms or 0.0
        text = (
            f"{took / before:.2f} times the baseline ({took:,.0f} ms against {before:,.0f} ms), "
            f"limit {self.limit:g}"
        )
        found = {"found": took / before, "limit": self.limit, "duration_ms": took}
        return text, found | {"baseline_duration_ms": before}
