"""`min_results`: the search found at least this many results."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from trialrun.checks._retrieved import ABOUT, EmptyMarkers, retrieved, said_so, searched
from trialrun.checks.base import (
    Check,
    Description,
    Text,
    Texts,
    check,
    counted,
    fails,
    is_unknown,
    passes,
)
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, TOOL_RESULTS, Step, Trace

_TOOL = {"tool": "search"}


@check(layer="retrieval", needs={TOOL_CALLS, TOOL_RESULTS})
class MinResults(Check):
    """Fails when all searches of the run together found fewer results than this.

    A result that is plain text cannot be counted: unknown, unless the minimum is 1. Several text
    parts of one answer (MCP) are one text, unless they are JSON. What is nothing found and what is
    an error is decided as for `forbid_empty`.
    """

    minimum: Annotated[int, Meta(ge=1)]
    tool: Text | None = None
    empty_markers: EmptyMarkers | None = None
    allow_empty_if_said: Texts | None = None

    about_settings: ClassVar = ABOUT
    formula: ClassVar = "|results| ≥ minimum"
    examples: ClassVar = (
        passes(2, beside=_TOOL, steps=[Step.tool_call("search", {}, ["a.md", "b.md"])]),
        fails(
            3,
            beside=_TOOL,
            steps=[Step.tool_call("search", {}, {"results": ["a.md", "b.md"]})],
            because="2 results, at least 3",
        ),
        is_unknown(
            2, beside=_TOOL, steps=[Step.tool_call("search", {}, "see the manual")], because="text"
        ),
        is_unknown(
            2,
            beside=_TOOL,
            steps=[Step.tool_call("search", {}, '["a.md", "[redacted]]')],
            because="redacted",
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        found = retrieved(trace, self.tool, self.empty_markers)
        if found.sure >= self.minimum:
            return self.pass_result
        if found.miscounted:
            return self.redacted(found.redacted)
        if not found.called:
            return self.failed(f"{searched(self.tool)} was never called")
        if found.unread or found.doubt:
            return self.unknown(found.unread or found.doubt)
        if not found.results and (said := said_so(self, trace, self.allow_empty_if_said)):
            return said
        if not found.countable:
            return self.unknown("the result is plain text, in which results cannot be counted")
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        results = retrieved(trace, self.tool, self.empty_markers).results
        text = f"{counted(len(results), 'result')}, at least {self.minimum}"
        return text, {"found": len(results), "minimum": self.minimum}
