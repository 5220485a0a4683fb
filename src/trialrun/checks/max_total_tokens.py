"""`max_total_tokens`: the run stays within a budget of tokens."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._limits import exceeding
from trialrun.checks.base import (
    Check,
    Description,
    Whole,
    check,
    counted,
    fails,
    is_unknown,
    passes,
)
from trialrun.model.results import CheckResult
from trialrun.model.steps import NO_USAGE, lacks_usage
from trialrun.model.trace import TOKENS, Step, TokenUsage, Trace

_CALL = Step.llm_call("m", "in", "out", TokenUsage(prompt_tokens=90, completion_tokens=10))


@check(layer="cost", needs={TOKENS})
class MaxTotalTokens(Check):
    """Fails when the model calls used more tokens than this. Equal is within the limit.

    Unknown as soon as one model call has no count: the sum of the others would be too low.
    """

    limit: Whole

    shareable: ClassVar = True
    formula: ClassVar = "trace.total_tokens ≤ limit"
    examples: ClassVar = (
        passes(100, steps=[_CALL]),
        fails(99, steps=[_CALL], because="100 tokens, limit 99"),
        is_unknown(1000, steps=[_CALL, Step.llm_call("m")], because="no token count"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        total = trace.total_tokens
        if total is None:
            silent = lacks_usage(trace.llm_calls)
            return self.unknown(NO_USAGE if silent else "a model call has no token count")
        if total <= self.limit:
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        data = {"found": trace.total_tokens or 0, "limit": self.limit}
        counts = (
            0 if step.tokens is None else step.tokens.total_tokens for step in trace.llm_calls
        )
        more = exceeding(trace.llm_calls, counts, self.limit)
        return self.message(trace, baseline), data | more

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        return f"{counted(trace.total_tokens or 0, 'token')}, limit {self.limit:,}"
