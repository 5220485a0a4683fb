"""`max_loops`: the agent does not call the same tool several times in a row."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Whole, check, counted, fails, is_unknown, passes
from trialrun.measures.loops import loop_count
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MaxLoops(Check):
    """Fails when more than `limit` calls use the same tool as the call just before.

    `max_repeats` also finds calls that are repeated after another call.
    """

    limit: Whole

    formula: ClassVar = "loop_count = |{i : P[i] = P[i+1]}| ≤ limit"
    when_passed: ClassVar = "within the limit"
    examples: ClassVar = (
        passes(3, tools=["search", "search", "grade", "grade", "grade"]),
        fails(2, tools=["search", "search", "grade", "grade", "grade"], because="3 loops"),
        is_unknown(0, tools=["[redacted]", "[redacted]"], because="redacted"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        loops = loop_count(trace.tool_call_sequence)
        if loops <= self.limit:
            return self.pass_result
        # Different names may look equal when masked; equal names never look different.
        if any_masked(trace.tools_used) and _sure_loops(trace.tool_call_sequence) <= self.limit:
            return self.redacted("the tools' names")
        return self.failed(f"{counted(loops, 'loop')}, limit {self.limit}")


def _sure_loops(names: list[str]) -> int:
    numbered = [f"{name} {at}" if any_masked([name]) else name for at, name in enumerate(names)]
    return loop_count(numbered)
