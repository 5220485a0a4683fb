"""`forbidden_tools`: the agent used none of these tools."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cached_property
from typing import ClassVar

from trialrun.checks.base import Check, Texts, check, fails, passes
from trialrun.results import CheckResult, Severity
from trialrun.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS}, severity=Severity.FAIL)
class ForbiddenTools(Check):
    """Fails when any of these tools was called, whether or not the call succeeded.

    Names are exact; with `*`, `?` or `[…]` they are globs (`mcp__*__delete_*`).
    """

    tools: Texts

    formula: ClassVar = "U ∩ forbidden = ∅"
    when_passed: ClassVar = "no forbidden tool was called"
    examples: ClassVar = (
        passes(["delete_user"], tools=["search"]),
        passes(["delete"], tools=["delete_draft"]),
        fails(["delete_user"], tools=["search", "delete_user"], because="delete_user"),
        fails(["mcp__*__delete_*"], tools=["mcp__crm__delete_user"], because="mcp__crm__"),
    )

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.tools)

    @cached_property
    def _globs(self) -> list[str]:
        return [name for name in self.tools if any(sign in name for sign in "*?[")]

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        used = trace.tools_used
        globs = self._globs
        if not globs and self._names.isdisjoint(used):
            return self.pass_result
        found = self._names & used
        found |= {name for name in used for glob in globs if fnmatchcase(name, glob)}
        if found:
            return self.failed(f"forbidden, but called: {', '.join(sorted(found))}")
        return self.pass_result
