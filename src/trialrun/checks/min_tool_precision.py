"""`min_tool_precision`: the agent used few tools other than the expected ones."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from trialrun.checks._limits import at_least
from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Description, Share, Text, check, fails, is_unknown, passes
from trialrun.measures.ratios import reaches
from trialrun.measures.sets import tool_precision
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MinToolPrecision(Check):
    """Fails when the share of the used tools that were expected is below this.

    Needs `expected_tools` in the same block.
    """

    minimum: Share
    expected_tools: list[Text]

    shareable: ClassVar = True
    formula: ClassVar = "tool_precision = |E ∩ U| / |U|"
    examples: ClassVar = (
        passes(0.5, tools=["search", "rank"], beside={"expected_tools": ["search"]}),
        fails(
            1.0,
            tools=["search", "rank"],
            beside={"expected_tools": ["search"]},
            because="rank",
        ),
        is_unknown(
            0.5,
            tools=["search", "[redacted]"],
            beside={"expected_tools": ["search"]},
            because="redacted",
        ),
    )

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.expected_tools)

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if any_masked(trace.tools_used):
            # It could be an expected tool, and two masked tools look like one.
            return self.redacted("the tools' names")
        precision = tool_precision(self._wanted, trace.tools_used)
        if precision >= self.minimum or reaches(precision, self.minimum):
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self.message(trace, baseline), {
            "found": tool_precision(self._wanted, trace.tools_used),
            "minimum": self.minimum,
            "wanted": sorted(self._wanted),
            "extra": sorted(trace.tools_used - self._wanted),
        }

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        precision = tool_precision(self._wanted, trace.tools_used)
        return at_least("tool_precision", precision, self.minimum)

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        text, found = self.describe(trace, baseline)
        extra = ", ".join(found["extra"]) or "none was used"
        return f"{text}; not expected: {extra}", found
