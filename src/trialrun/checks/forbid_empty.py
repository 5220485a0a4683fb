"""`forbid_empty`: the search found something."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._masks import GAP
from trialrun.checks._retrieved import ABOUT, EmptyMarkers, retrieved, said_so, searched
from trialrun.checks.base import Check, Text, Texts, check, fails, is_unknown, passes
from trialrun.measures.retrieval import SearchResult
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, TOOL_RESULTS, Step, Trace

_TOOL = {"tool": "search"}


@check(layer="retrieval", needs={TOOL_CALLS, TOOL_RESULTS})
class ForbidEmpty(Check):
    """Fails when all searches of the run together found nothing.

    `tool` in the same block names the search tool; without it the steps of type retrieval count.
    One empty search is not a failure if another one found something. Nothing found is an empty
    list at any depth of the result (`{"data": {"items": []}}`), a count of 0, or a text such as
    "No results found."; `empty_markers` adds texts of your tool. A result that reports an error is
    unknown. With `allow_empty_if_said`, an answer that says so may have found nothing.
    """

    asked: bool
    tool: Text | None = None
    empty_markers: EmptyMarkers | None = None
    allow_empty_if_said: Texts | None = None

    about_settings: ClassVar = ABOUT
    is_flag: ClassVar = True
    formula: ClassVar = "|results| > 0"
    when_passed: ClassVar = "something was found"
    examples: ClassVar = (
        passes(True, beside=_TOOL, steps=[Step.tool_call("search", {}, ["a.md"])]),
        fails(True, beside=_TOOL, steps=[Step.tool_call("search", {}, [])], because="nothing"),
        fails(
            True,
            beside=_TOOL,
            steps=[Step.tool_call("search", {}, "No results found.")],
            because="nothing",
        ),
        passes(
            True,
            beside={**_TOOL, "allow_empty_if_said": ["could not find"]},
            answer="I could not find anything about that.",
            steps=[Step.tool_call("search", {}, [])],
        ),
        fails(True, beside=_TOOL, because="never"),
        is_unknown(
            True,
            beside=_TOOL,
            steps=[Step.tool_call("search", {}, {"error": "timed out"})],
            because="reports an error",
        ),
        is_unknown(True, beside=_TOOL, steps=[Step.tool_call("search")], because="not recorded"),
        is_unknown(
            True,
            beside=_TOOL,
            steps=[Step.tool_call("search", {}, "[redacted]")],
            because="redacted",
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        found = retrieved(trace, self.tool, self.empty_markers)
        # A text that is only a mask may have said "no results".
        if found.sure and (found.countable or any(map(_is_readable, found.results))):
            return self.pass_result
        if found.miscounted:
            return self.redacted(found.redacted)
        if not found.called:
            return self.failed(f"{searched(self.tool)} was never called")
        if found.unread or found.doubt:
            return self.unknown(found.unread or found.doubt)
        said = said_so(self, trace, self.allow_empty_if_said)
        return said or self.failed(f"{searched(self.tool)} found nothing")


def _is_readable(result: SearchResult) -> bool:
    return result.text.strip() != GAP
