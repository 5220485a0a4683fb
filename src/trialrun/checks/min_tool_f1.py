"""`min_tool_f1`: the used tools and the expected ones agree well enough."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Description, Share, Text, check, fails, is_unknown, passes
from trialrun.measures.ratios import reaches
from trialrun.measures.sets import tool_f1
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MinToolF1(Check):
    """Fails when the harmonic mean of tool recall and tool precision is below this.

    Needs `expected_tools` in the same block.
    """

    minimum: Share
    expected_tools: list[Text]

    shareable: ClassVar = True
    formula: ClassVar = "tool_f1 = 2 · precision · recall / (precision + recall)"
    examples: ClassVar = (
        passes(0.8, tools=["a", "b"], beside={"expected_tools": ["a", "b", "c"]}),
        fails(0.9, tools=["a", "b"], beside={"expected_tools": ["a", "b", "c"]}, because="0.80"),
        is_unknown(
            0.5, tools=["a", "[redacted]"], beside={"expected_tools": ["a"]}, because="redacted"
        ),
    )

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.expected_tools)

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if any_masked(trace.tools_used):
            # It could be an expected tool, and two masked tools look like one.
            return self.redacted("the tools' names")
        score = tool_f1(self._wanted, trace.tools_used)
        if reaches(score, self.minimum):
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        used = trace.tools_used
        score = tool_f1(self._wanted, used)
        return f"tool_f1 {score:.2f}, at least {self.minimum:g}", {
            "found": score,
            "minimum": self.minimum,
            "wanted": sorted(self._wanted),
            "missing": sorted(self._wanted - used),
            "extra": sorted(used - self._wanted),
        }

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        text, found = self.describe(trace, baseline)
        missing, extra = (", ".join(found[key]) or "none" for key in ("missing", "extra"))
        return f"{text}; missing: {missing}; extra: {extra}", found
