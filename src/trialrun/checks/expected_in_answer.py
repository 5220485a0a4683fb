"""`expected_in_answer`: the answer contains every one of these terms."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from trialrun.checks._masks import occurs
from trialrun.checks.base import (
    ANSWER,
    Check,
    Description,
    Text,
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


@check(layer="correctness", needs={ANSWER}, order=10)
class ExpectedInAnswer(Check):
    """Passes when every term occurs in the answer (case-insensitive).

    An item may be a list: then one of its terms is enough (an AND of ORs). Terms are plain
    substrings. `normalize: unicode` in the same block first replaces curly quotes, non-breaking
    spaces and compatibility characters by their plain forms.
    """

    reads_wording: ClassVar = True

    terms: Annotated[list[Text | Texts], Meta(min_length=1)]
    normalize: Literal["unicode"] | None = None

    stricter: ClassVar = {"terms": "more"}
    formula: ClassVar = "∀ term: term.lower() in answer.lower()"
    when_passed: ClassVar = "every term is in the answer"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes(["refund", ["30 days", "a month"]], answer="A refund takes a month."),
        fails(["refund", "30 days"], answer="A refund takes a month.", because='"30 days"'),
        fails([["14 days", "30 days"]], answer="A month.", because='any of "14 days", "30 days"'),
        is_unknown(["refund", "sk-1"], answer="The refund is [redacted].", because="redacted"),
    )

    @cached_property
    def _wanted(self) -> list[tuple[list[str], list[str]]]:
        groups = [[term] if isinstance(term, str) else term for term in self.terms]
        return [([comparable(term, self.normalize) for term in group], group) for group in groups]

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        answer = comparable(trace.answer_text or "", self.normalize)
        for terms, _ in self._wanted:
            for term in terms:
                if occurs(term, answer):
                    break
            else:
                return self.redacted("the answer") if is_masked(answer) else self.fail_result
        return self.pass_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        answer = comparable(trace.answer_text or "", self.normalize)
        groups = [
            [term for form, term in zip(forms, given, strict=True) if occurs(form, answer)]
            for forms, given in self._wanted
        ]
        found = [term for group in groups for term in group]
        missing = [term for term, group in zip(self.terms, groups, strict=True) if not group]
        return self.when_passed, {"wanted": self.terms, "found": found, "missing": missing}

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        _, found = self.describe(trace, baseline)
        named = [
            quoted([one]) if isinstance(one, str) else f"any of {quoted(one)}"
            for one in found["missing"]
        ]
        return f"not in the answer: {'; '.join(named)}", found
