"""`expected_tools`: the agent used these tools."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from trialrun.checks._limits import at_least
from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Description, Share, Text, check, fails, is_unknown, passes
from trialrun.measures.ratios import reaches
from trialrun.measures.sets import tool_recall
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class ExpectedTools(Check):
    """Fails when the share of these tools that were used is below `min_tool_recall`.

    Without `min_tool_recall` in the same block, all of them must be used. An empty list asserts
    that no tool was called. Number and order of the calls do not matter.
    """

    tools: list[Text]
    min_tool_recall: Share = 1.0

    stricter: ClassVar = {"tools": "more", "min_tool_recall": "higher"}
    shareable: ClassVar = True
    formula: ClassVar = "tool_recall = |E ∩ U| / |E| ≥ min_tool_recall"
    recommended: ClassVar = "min_tool_recall 1.0 for tools that must be used"
    examples: ClassVar = (
        passes(["search"], tools=["search", "rank"]),
        passes(["search", "rank"], tools=["search"], beside={"min_tool_recall": 0.5}),
        passes([], tools=[]),
        fails(["search", "rank"], tools=["search"], because="rank"),
        fails([], tools=["search"], because="no tool call was expected"),
        is_unknown(["search"], tools=["[redacted]"], because="redacted"),
    )

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.tools)

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        wanted, used = self._wanted, trace.tools_used
        if wanted and wanted <= used:
            return self.pass_result
        if not wanted:
            return self.fail_result if used else self.pass_result
        recall = tool_recall(wanted, used)
        if reaches(recall, self.min_tool_recall):
            return self.pass_result
        if any_masked(used):
            return self.redacted("the tools' names")
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        wanted, used = self._wanted, trace.tools_used
        if not wanted:
            return self.message(trace, baseline), {"wanted": [], "found": []}
        return self.message(trace, baseline), {
            "wanted": sorted(wanted),
            "found": sorted(wanted & used),
            "missing": sorted(wanted - used),
            "recall": tool_recall(wanted, used),
            "minimum": self.min_tool_recall,
        }

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        if not self._wanted:
            return "no tool was called, as expected"
        recall = tool_recall(self._wanted, trace.tools_used)
        return at_least("tool_recall", recall, self.min_tool_recall)

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        used = sorted(trace.tools_used)
        if not self._wanted:
            text = f"no tool call was expected, found {', '.join(used)}"
            return text, {"wanted": [], "found": used, "extra": used}
        text, found = self.describe(trace, baseline)
        return f"not used: {', '.join(found['missing'])} ({text})", found
