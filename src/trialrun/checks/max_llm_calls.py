"""`max_llm_calls`: the run stays within a budget of model calls."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._limits import at_most, beyond
from trialrun.checks.base import Check, Description, Whole, check, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import LLM_CALLS, Step, Trace


@check(layer="cost", needs={LLM_CALLS})
class MaxLlmCalls(Check):
    """Fails when a model was called more often than this. Equal is within the limit."""

    limit: Whole

    shareable: ClassVar = True
    formula: ClassVar = "trace.total_llm_calls ≤ limit"
    examples: ClassVar = (
        passes(1, steps=[Step.llm_call("m")]),
        fails(0, steps=[Step.llm_call("m")], because="1 model call, limit 0"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if len(trace.llm_calls) <= self.limit:
            return self.pass_result
        return self.fail_result

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        data = {"found": len(trace.llm_calls), "limit": self.limit}
        return self.message(trace, baseline), data | beyond(trace.llm_calls, self.limit)

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        return at_most(len(trace.llm_calls), "model call", self.limit)
