"""`max_latency_ms`: the run takes at most this many milliseconds."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks.base import Check, Description, check, fails, is_unknown, passes
from trialrun.measures.ratios import reaches
from trialrun.model.results import CheckResult
from trialrun.model.trace import TIMINGS, Step, Trace


@check(layer="cost", needs={TIMINGS})
class MaxLatencyMs(Check):
    """Fails when the run took longer than this many milliseconds. Equal is within the limit.

    The duration is that of the trace, else last end − first start, else the sum of the steps'.
    """

    limit: Annotated[float, Meta(ge=0)]

    shareable: ClassVar = True
    formula: ClassVar = "trace.total_duration_ms ≤ limit"
    examples: ClassVar = (
        passes(1200, duration_ms=1200.0),
        passes(
            300, steps=[Step.tool_call("a", duration_ms=100), Step.tool_call("b", duration_ms=200)]
        ),
        fails(1000, duration_ms=1200.0, because="1,200 ms, limit 1,000"),
        is_unknown(1000, because="not recorded in this trace: timings"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        duration = trace.total_duration_ms
        if duration is None:
            return self.unknown("the trace has no duration, no times and no step with a duration")
        if duration <= self.limit or reaches(self.limit, duration):
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        duration = trace.total_duration_ms or 0.0
        return self.message(trace, baseline), {"found": duration, "limit": self.limit}

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        shown, limit = milliseconds(trace.total_duration_ms or 0.0, self.limit)
        return f"{shown} ms, limit {limit}"


def milliseconds(duration: float, limit: float) -> tuple[str, str]:
    """Both with as many digits as it takes to tell them apart: `100.01` and `100`."""
    shown = f"{duration:,.0f}"
    if abs(duration - limit) <= 1:
        for digits in range(7):
            shown = f"{duration:,.{digits}f}"
            if duration == limit or float(shown.replace(",", "")) != round(limit, digits):
                break
    return shown, _limit_shown(limit)


@lru_cache(maxsize=1024)
def _limit_shown(limit: float) -> str:
    return f"{limit:,.6f}".rstrip("0").rstrip(".")
