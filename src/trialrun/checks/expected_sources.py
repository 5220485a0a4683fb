"""`expected_sources`: the search found these sources."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._retrieved import ABOUT, EmptyMarkers, retrieved, searched
from trialrun.checks.base import Check, Description, Text, Texts, check, fails, is_unknown, passes
from trialrun.measures.retrieval import has_source
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, TOOL_RESULTS, Step, Trace

_TOOL = {"tool": "search"}
_FOUND = Step.tool_call("search", {}, [{"source": "docs/install.md", "text": "pip install"}])


@check(layer="retrieval", needs={TOOL_CALLS, TOOL_RESULTS})
class ExpectedSources(Check):
    """Fails when one of these sources is not among the results.

    A source is given by its whole name or by the end of its path: `install.md` matches
    `docs/install.md`, but not `reinstall.md`. Unicode forms of the same characters are equal;
    upper and lower case are not. In a result that is running text the source must be given as such
    (a line of its own, `Source: install.md`, `install.md:12: …`): a text that only mentions it is
    unknown, because "install.md was not found" mentions it too.
    """

    sources: Texts
    tool: Text | None = None
    empty_markers: EmptyMarkers | None = None

    about_settings: ClassVar = ABOUT
    stricter: ClassVar = {"sources": "more"}
    formula: ClassVar = "∀ source: ∃ result whose source it is"
    when_passed: ClassVar = "every source was found"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes(["install.md"], beside=_TOOL, steps=[_FOUND]),
        fails(["all.md"], beside=_TOOL, steps=[_FOUND], because="all.md"),
        is_unknown(["a.md"], beside=_TOOL, steps=[Step.tool_call("search")], because="recorded"),
        is_unknown(
            ["a.md"],
            beside=_TOOL,
            steps=[Step.tool_call("search", {}, "As a.md says, it depends.")],
            because="only mentioned",
        ),
        is_unknown(
            ["a.md"],
            beside=_TOOL,
            steps=[Step.tool_call("search", {}, ["[redacted]"])],
            because="redacted",
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        found = retrieved(trace, self.tool, self.empty_markers)
        among = {
            source: {has_source(result, source) for result in found.results}
            for source in self.sources
        }
        missing = [source for source in self.sources if True not in among[source]]
        if not missing:
            return self.pass_result
        if found.redacted:
            return self.redacted(found.redacted)
        if not found.called:
            return self.failed(f"{searched(self.tool)} was never called")
        if found.unread:
            return self.unknown(found.unread)
        absent = [source for source in missing if None not in among[source]]
        if absent:
            _, data = self.describe(trace, baseline)
            return self.failed(f"not among the results: {', '.join(absent)}", data)
        return self.unknown(
            f"only mentioned in running text, not given as a source: {', '.join(missing)}"
        )

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        results = retrieved(trace, self.tool, self.empty_markers).results
        found = [one for one in self.sources if any(has_source(each, one) for each in results)]
        missing = [one for one in self.sources if one not in found]
        return self.when_passed, {"wanted": self.sources, "found": found, "missing": missing}
