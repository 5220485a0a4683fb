"""`exact_match`: the answer is exactly this text."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._masks import could_read
from trialrun.checks.base import ANSWER, Check, Description, check, fails, is_unknown, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked
from trialrun.util.texts import excerpt


@check(layer="correctness", needs={ANSWER}, order=40)
class ExactMatch(Check):
    """Passes when the answer equals the text, ignoring white space around both. Case-sensitive.

    An empty text requires an empty answer.
    """

    reads_wording: ClassVar = True

    text: str

    formula: ClassVar = "answer.strip() == expected.strip()"
    when_passed: ClassVar = "the answer is exactly as expected"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes("42", answer=" 42\n"),
        fails("Paris", answer="paris", because='"paris"'),
        is_unknown("The key is sk-1.", answer="The key is [redacted].", because="redacted"),
        fails("Paris", answer="The key is [redacted].", because="found"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        answer, wanted = (trace.answer_text or "").strip(), self.text.strip()
        if answer == wanted:
            return self.pass_result
        if is_masked(answer) and could_read(answer, wanted):
            return self.redacted("the answer")
        text = f"expected {excerpt(wanted)}, found {excerpt(answer)}"
        return self.failed(text, {"wanted": wanted, "found": answer})

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self.when_passed, {"wanted": self.text.strip(), "found": self.text.strip()}
