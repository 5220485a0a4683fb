"""`expected_sources`: the search found these sources."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._retrieved import retrieved, searched
from trialrun.checks.base import Check, Text, Texts, check, fails, is_unknown, passes
from trialrun.measures.retrieval import has_source
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, TOOL_RESULTS, Step, Trace

_TOOL = {"tool": "search"}
_FOUND = Step.tool_call("search", {}, [{"source": "docs/install.md", "text": "pip install"}])


@check(layer="retrieval", needs={TOOL_CALLS, TOOL_RESULTS})
class ExpectedSources(Check):
    """Fails when one of these sources is not among the results.

    A source is given by its whole name or by the end of its path: `install.md` matches
    `docs/install.md`, but not `reinstall.md`. Unicode forms of the same characters are equal.
    """

    sources: Texts
    tool: Text | None = None

    formula: ClassVar = "∀ source: ∃ result whose source it is"
    when_passed: ClassVar = "every source was found"
    examples: ClassVar = (
        passes(["install.md"], beside=_TOOL, steps=[_FOUND]),
        fails(["all.md"], beside=_TOOL, steps=[_FOUND], because="all.md"),
        is_unknown(["a.md"], beside=_TOOL, steps=[Step.tool_call("search")], because="recorded"),
        is_unknown(
            ["a.md"],
            beside=_TOOL,
            steps=[Step.tool_call("search", {}, ["[redacted]"])],
            because="redacted",
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        found = retrieved(trace, self.tool)
        missing = [
            source
            for source in self.sources
            if not any(has_source(result, source) for result in found.results)
        ]
        if not missing:
            return self.pass_result
        if found.redacted:
            return self.redacted(found.redacted)
        if not found.called:
            return self.failed(f"{searched(self.tool)} was never called")
        if found.unread:
            return self.unknown(found.unread)
        return self.failed(f"not among the results: {', '.join(missing)}")
