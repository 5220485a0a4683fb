"""`order`: some calls come before others."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Description, Text, Texts, check, fails, is_unknown, passes
from trialrun.measures.order import first_violation
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class Order(Check):
    """Fails when the calls do not follow a partial order: `[login, [search, quote], book]`.

    Stages follow each other; inside a stage (an inner list) any order is allowed. Extra calls are
    allowed anywhere.
    """

    stages: Annotated[list[Text | Texts], Meta(min_length=1)]

    shareable: ClassVar = True
    formula: ClassVar = "each stage's calls come after all calls of the stage before"
    when_passed: ClassVar = "the calls are in order"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes(["login", ["search", "quote"], "book"], tools=["login", "quote", "search", "book"]),
        passes(["login", "book"], tools=["login", "search", "book"]),
        fails(["login", "book"], tools=["book", "login"], because="no call of `book` after call 2"),
        fails([["search", "quote"]], tools=["search"], because="no call of `quote`"),
        is_unknown(["login", "book"], tools=["login", "[redacted]"], because="redacted"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        violation = first_violation(trace.tool_call_sequence, self.stages)
        if violation is None:
            return self.pass_result
        if any_masked(trace.tools_used):
            return self.redacted("the tools' names")
        return self.failed(violation, {"wanted": self.stages, "found": trace.tool_call_sequence})

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self.when_passed, {"wanted": self.stages, "found": trace.tool_call_sequence}
