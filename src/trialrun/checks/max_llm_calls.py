"""`max_llm_calls`: the run stays within a budget of model calls."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks.base import Check, Whole, check, counted, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import Step, Trace


@check(layer="cost")
class MaxLlmCalls(Check):
    """Fails when a model was called more often than this. Equal is within the limit."""

    limit: Whole

    formula: ClassVar = "trace.total_llm_calls ≤ limit"
    when_passed: ClassVar = "within the limit"
    examples: ClassVar = (
        passes(1, steps=[Step.llm_call("m")]),
        fails(0, steps=[Step.llm_call("m")], because="1 model call, limit 0"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        calls = len(trace.llm_calls)
        if calls <= self.limit:
            return self.pass_result
        return self.failed(f"{counted(calls, 'model call')}, limit {self.limit:,}")
