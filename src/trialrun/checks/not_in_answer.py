"""`not_in_answer`: the answer contains none of these terms."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from trialrun.checks._masks import occurs
from trialrun.checks.base import (
    ANSWER,
    Check,
    Description,
    check,
    fails,
    is_unknown,
    passes,
    quoted,
)
from trialrun.model.results import CheckResult
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked
from trialrun.util.texts import comparable


@check(layer="correctness", needs={ANSWER}, order=30)
class NotInAnswer(Check):
    """Passes when no term occurs in the answer (case-insensitive)."""

    reads_wording: ClassVar = True

    # White space may be a term here: "not one tab" can fail.
    terms: Annotated[
        list[Annotated[str, Meta(min_length=1, extra={"blank": True})]], Meta(min_length=1)
    ]
    normalize: Literal["unicode"] | None = None

    stricter: ClassVar = {"terms": "more"}
    formula: ClassVar = "∀ term: term.lower() not in answer.lower()"
    when_passed: ClassVar = "none of the terms is in the answer"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes(["guarantee"], answer="It usually takes a week."),
        is_unknown(["sk-secret"], answer="The key is [redacted].", because="redacted"),
        fails(["guarantee"], answer="We GUARANTEE a week.", because='"guarantee"'),
    )

    @cached_property
    def _forbidden(self) -> list[tuple[str, str]]:
        return [(comparable(term, self.normalize), term) for term in self.terms]

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        answer = comparable(trace.answer_text or "", self.normalize)
        for term, _ in self._forbidden:
            if occurs(term, answer):
                return self.fail_result
        if is_masked(answer):
            return self.redacted("the answer")
        return self.pass_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self.when_passed, {"unwanted": self.terms, "found": []}

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        answer = comparable(trace.answer_text or "", self.normalize)
        found = [given for term, given in self._forbidden if occurs(term, answer)]
        text = f"in the answer, but must not be: {quoted(found)}"
        return text, {"unwanted": self.terms, "found": found}
