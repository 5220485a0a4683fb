"""`expected_tool_sequence`: the agent made exactly these calls in this order."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._masks import any_masked, could_equal
from trialrun.checks.base import Check, Description, Text, check, fails, is_unknown, passes
from trialrun.model.paths import short_path
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace

_SHOWN = 6


@check(layer="path", needs={TOOL_CALLS})
class ExpectedToolSequence(Check):
    """Fails when the calls are not exactly this list; the message is the shortest edit script.

    An empty list asserts that no tool was called.
    """

    tools: list[Text]

    shareable: ClassVar = True
    formula: ClassVar = "P == R"
    when_passed: ClassVar = "exactly the expected calls"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes(["search", "answer"], tools=["search", "answer"]),
        fails(["search", "answer"], tools=["answer"], because="`search` is missing"),
        fails(["search"], tools=["search", "rank"], because="`rank` is extra"),
        fails(["search"], tools=["browse"], because="`browse` instead of `search`"),
        is_unknown(["login", "search"], tools=["login", "[redacted]"], because="redacted"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if trace.tool_call_sequence == self.tools:
            return self.pass_result
        if any_masked(trace.tools_used) and could_equal(trace.tool_call_sequence, self.tools):
            return self.redacted("the tools' names")
        from trialrun.measures.sequence import edit_path, edit_script

        script = edit_script(trace.tool_call_sequence, self.tools)
        shown = script[:_SHOWN]
        if len(script) > _SHOWN:
            shown.append(f"and {len(script) - _SHOWN} more")
        calls = trace.tool_call_sequence
        path = short_path(edit_path(calls, self.tools))
        found = {"wanted": self.tools, "found": calls, "edits": script, "path": path}
        return self.failed("; ".join(shown), found)

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self.when_passed, {"wanted": self.tools, "found": trace.tool_call_sequence}
