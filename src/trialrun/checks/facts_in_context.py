"""`facts_in_context`: the facts that the answer states are in the search results."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._masks import occurs
from trialrun.checks._retrieved import ABOUT, EmptyMarkers, retrieved
from trialrun.checks.base import (
    ANSWER,
    Check,
    Text,
    Texts,
    check,
    fails,
    is_unknown,
    passes,
    quoted,
)
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, TOOL_RESULTS, Step, Trace
from trialrun.redaction import is_masked

_TOOL = {"tool": "search"}
_FOUND = Step.tool_call("search", {}, ["Refunds within 30 days."])


@check(layer="retrieval", needs={ANSWER, TOOL_CALLS, TOOL_RESULTS})
class FactsInContext(Check):
    """Fails when a fact is in the answer but in no result (case-insensitive).

    A fact that the answer does not state is ignored: to require it, use `expected_in_answer`.
    """

    facts: Texts
    tool: Text | None = None
    empty_markers: EmptyMarkers | None = None

    about_settings: ClassVar = ABOUT
    stricter: ClassVar = {"facts": "more"}
    formula: ClassVar = "∀ fact: fact in answer → ∃ result: fact in result"
    when_passed: ClassVar = "every fact of the answer was found"
    examples: ClassVar = (
        passes(["30 days"], beside=_TOOL, answer="30 days", steps=[_FOUND]),
        fails(["60 days"], beside=_TOOL, answer="60 days", steps=[_FOUND], because='"60 days"'),
        is_unknown(["60 days"], beside=_TOOL, answer="60 days", steps=[Step.tool_call("search")]),
        is_unknown(
            ["60 days"],
            beside=_TOOL,
            answer="60 days",
            steps=[Step.tool_call("search", {}, ["[redacted]"])],
            because="redacted",
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        answer = (trace.answer_text or "").lower()
        found = retrieved(trace, self.tool, self.empty_markers)
        context = [result.text.lower() for result in found.results]
        unfound = [fact for fact in self.facts if not any(fact.lower() in text for text in context)]
        missing = [fact for fact in unfound if occurs(fact.lower(), answer)]
        if missing:
            if found.unread:
                return self.unknown(found.unread)
            if found.redacted:
                return self.redacted(found.redacted)
            text = f"in the answer, but in no result: {quoted(missing)}"
            return self.failed(text, {"wanted": self.facts, "missing": missing})
        if unfound and is_masked(answer):
            return self.redacted("the answer")
        return self.pass_result
