"""`max_tool_calls`: the agent stays within a budget of tool calls."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._limits import at_most, beyond
from trialrun.checks.base import Check, Description, Whole, check, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MaxToolCalls(Check):
    """Fails when there are more than `limit` tool calls. Failed calls count too.

    0 asserts that no tool was called.
    """

    limit: Whole

    shareable: ClassVar = True
    formula: ClassVar = "|P| ≤ limit"
    recommended: ClassVar = "0 for out-of-scope queries"
    examples: ClassVar = (
        passes(1, tools=["search"]),
        fails(0, tools=["search"], because="1 tool call, limit 0"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if len(trace.tool_call_sequence) <= self.limit:
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        calls = trace.tool_call_sequence
        data = {"found": len(calls), "limit": self.limit, "tools": calls}
        return self.message(trace, baseline), data | beyond(trace.tool_calls, self.limit)

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        return at_most(len(trace.tool_call_sequence), "tool call", self.limit)
