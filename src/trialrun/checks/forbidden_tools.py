"""`forbidden_tools`: the agent used none of these tools."""

from __future__ import annotations

from collections.abc import Set
from fnmatch import fnmatchcase
from functools import cached_property
from typing import ClassVar

from trialrun.checks._masks import any_masked, visible
from trialrun.checks.base import Check, Description, Texts, check, fails, is_unknown, passes
from trialrun.model.results import CheckResult, Severity
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS}, severity=Severity.FAIL)
class ForbiddenTools(Check):
    """Fails when any of these tools was called, whether or not the call succeeded.

    Names must match exactly; names with `*`, `?` or `[…]` are globs (`mcp__*__delete_*`).
    """

    tools: Texts

    stricter: ClassVar = {"tools": "more"}
    shareable: ClassVar = True
    formula: ClassVar = "U ∩ forbidden = ∅"
    when_passed: ClassVar = "no forbidden tool was called"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes(["delete_user"], tools=["search"]),
        passes(["delete"], tools=["delete_draft"]),
        fails(["delete_user"], tools=["search", "delete_user"], because="delete_user"),
        fails(["mcp__*__delete_*"], tools=["mcp__crm__delete_user"], because="mcp__crm__"),
        is_unknown(["delete_user"], tools=["[redacted]"], because="redacted"),
    )

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.tools)

    @cached_property
    def _globs(self) -> list[str]:
        return [name for name in self.tools if any(sign in name for sign in "*?[")]

    def _found(self, used: Set[str]) -> Set[str]:
        found = self._names & used
        for glob in self._globs:
            found |= {name for name in used if fnmatchcase(visible(name), glob)}
        return found

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        used = trace.tools_used
        if self._found(used):
            return self.fail_result
        return self.redacted("the tools' names") if any_masked(used) else self.pass_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self.when_passed, {"unwanted": self.tools, "found": []}

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        found = sorted(self._found(trace.tools_used))
        text = f"forbidden, but called: {', '.join(found)}"
        steps = [step.id for step in trace.tool_calls if step.tool_name in found]
        return text, {"unwanted": self.tools, "found": found, "steps": steps}
