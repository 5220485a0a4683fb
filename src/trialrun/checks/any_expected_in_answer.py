"""`any_expected_in_answer`: the answer contains at least one of these terms."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Literal

from trialrun.checks._masks import occurs
from trialrun.checks.base import (
    ANSWER,
    Check,
    Description,
    Texts,
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


@check(layer="correctness", needs={ANSWER}, order=20)
class AnyExpectedInAnswer(Check):
    """Passes when at least one term occurs in the answer (case-insensitive)."""

    reads_wording: ClassVar = True

    terms: Texts
    normalize: Literal["unicode"] | None = None

    stricter: ClassVar = {"terms": "fewer"}
    formula: ClassVar = "∃ term: term.lower() in answer.lower()"
    examples: ClassVar = (
        passes(["30 days", "a month"], answer="It takes a month."),
        fails(["30 days", "a month"], answer="It takes a while.", because="none of"),
        is_unknown(["sk-1", "sk-2"], answer="The key is [redacted].", because="redacted"),
    )

    @cached_property
    def _wanted(self) -> list[str]:
        return [comparable(term, self.normalize) for term in self.terms]

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        answer = comparable(trace.answer_text or "", self.normalize)
        for term in self._wanted:
            if occurs(term, answer):
                return self.pass_result
        if is_masked(answer):
            return self.redacted("the answer")
        return self.fail_result

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        text = f"none of these is in the answer: {quoted(self.terms)}"
        return text, {"wanted": self.terms, "found": []}

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        answer = comparable(trace.answer_text or "", self.normalize)
        pairs = zip(self._wanted, self.terms, strict=True)
        found = [given for term, given in pairs if occurs(term, answer)]
        return f'"{found[0]}" is in the answer', {"wanted": self.terms, "found": found}
