"""`max_loops`: the agent does not call the same tool several times in a row."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from trialrun.checks._limits import at_most, beyond
from trialrun.checks._masks import any_masked
from trialrun.checks.base import (
    Check,
    Description,
    Whole,
    check,
    fails,
    is_unknown,
    passes,
)
from trialrun.measures.loops import loop_count
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Step, Trace


@check(layer="path", needs={TOOL_CALLS})
class MaxLoops(Check):
    """Fails when more than `limit` calls use the same tool as the call just before.

    `max_repeats` also finds calls that are repeated after another call.

    Nothing limits loops unless this check or `max_repeats` is given: how often a tool may be called
    in a row depends on the agent (reading five files is not a loop), and a limit that was not
    asked for would warn on sound runs.
    """

    limit: Whole

    shareable: ClassVar = True
    formula: ClassVar = "loop_count = |{i : P[i] = P[i+1]}| ≤ limit"
    examples: ClassVar = (
        passes(3, tools=["search", "search", "grade", "grade", "grade"]),
        fails(2, tools=["search", "search", "grade", "grade", "grade"], because="3 loops"),
        is_unknown(0, tools=["[redacted]", "[redacted]"], because="redacted"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if loop_count(trace.tool_call_sequence) <= self.limit:
            return self.pass_result
        # Different names may look equal when masked; equal names never look different.
        if any_masked(trace.tools_used) and _sure_loops(trace.tool_call_sequence) <= self.limit:
            return self.redacted("the tools' names")
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        again = [call for before, call in pairwise(trace.tool_calls) if _same_tool(before, call)]
        data = {"found": len(again), "limit": self.limit}
        return self.message(trace, baseline), data | beyond(again, self.limit)

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        return at_most(loop_count(trace.tool_call_sequence), "loop", self.limit)


def _same_tool(before: Step, call: Step) -> bool:
    return before.tool_name == call.tool_name


def _sure_loops(names: list[str]) -> int:
    numbered = [f"{name} {at}" if any_masked([name]) else name for at, name in enumerate(names)]
    return loop_count(numbered)
