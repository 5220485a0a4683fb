"""`regex_match`: a regular expression is found in the answer."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from trialrun.checks._masks import found_outside_masks
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
    require_deciding_pattern,
)
from trialrun.measures import patterns
from trialrun.model.results import CheckResult
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked


@check(layer="correctness", needs={ANSWER}, order=50)
class RegexMatch(Check):
    """Passes when `re.search` finds the pattern in the answer; with a list, every pattern.

    Patterns have the syntax of Python's `re`, without flags (write `(?i)` to set one). A search
    that takes longer than a second is stopped, and the check is unknown. In a redacted answer the
    check passes only on a match between the masks, by a pattern that does not depend on the
    neighbouring text (`^`, `$`, …); otherwise it is unknown.
    """

    reads_wording: ClassVar = True

    pattern: Text | Texts

    stricter: ClassVar = {"pattern": "more"}
    formula: ClassVar = "re.search(pattern, answer) is not None"
    when_passed: ClassVar = "found in the answer"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes(r"\d+ days", answer="within 30 days"),
        passes([r"^Refund", r"days\.$"], answer="Refunds take 30 days."),
        fails(r"^\d+ days", answer="within 30 days", because="not found"),
        is_unknown(r"(a|aa)+$", answer="a" * 60 + "!", because="of backtracking"),
        is_unknown(r"key is \w+", answer="The key is [redacted].", because="redacted"),
    )

    def validate(self) -> None:
        for pattern in [self.pattern] if isinstance(self.pattern, str) else self.pattern:
            require_deciding_pattern(pattern)

    @cached_property
    def _patterns(self) -> list[patterns.Pattern]:
        given = [self.pattern] if isinstance(self.pattern, str) else self.pattern
        return [patterns.compiled(pattern) for pattern in given]

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if len(self._patterns) == 1:
            return self._search(trace.answer_text or "")
        with patterns.shared_limit():
            return self._search(trace.answer_text or "")

    def _search(self, answer: str) -> CheckResult:
        if is_masked(answer):
            sure = all(found_outside_masks(pattern, answer) for pattern in self._patterns)
            return self.pass_result if sure else self.redacted("the answer")
        undecided = ""
        for pattern in self._patterns:
            found = pattern.search(answer)
            if found is False:
                text = f"not found in the answer: {pattern.text}"
                return self.failed(text, {"wanted": self.pattern, "missing": pattern.text})
            if found is None:
                undecided = pattern.text
        if undecided:
            return self.unknown(
                f"the search for {undecided} was stopped after "
                f"{patterns.LIMIT_SECONDS:g} s of backtracking; simplify the pattern"
            )
        return self.pass_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self.when_passed, {"wanted": self.pattern}
