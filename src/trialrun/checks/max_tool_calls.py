"""`max_tool_calls`: the agent stays within a budget of tool calls."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks.base import Check, Whole, check, counted, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MaxToolCalls(Check):
    """Fails when there are more than `limit` tool calls. Failed calls count too.

    0 asserts that no tool was called.
    """

    limit: Whole

    formula: ClassVar = "|P| ≤ limit"
    recommended: ClassVar = "0 for out-of-scope queries"
    when_passed: ClassVar = "within the limit"
    examples: ClassVar = (
        passes(1, tools=["search"]),
        fails(0, tools=["search"], because="1 tool call, limit 0"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        calls = len(trace.tool_call_sequence)
        if calls <= self.limit:
            return self.pass_result
        return self.failed(f"{counted(calls, 'tool call')}, limit {self.limit}")
