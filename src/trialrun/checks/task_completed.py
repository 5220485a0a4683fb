"""`task_completed`: the run ended with status success and an answer."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks.base import ANSWER, Check, Description, check, fails, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import Trace, TraceStatus


@check(layer="correctness", needs={ANSWER})
class TaskCompleted(Check):
    """Passes when the run's status is success and its answer is not empty; `false` inverts.

    Equivalent to evaldeck's `task_completed`. Unknown for a run that crashed or gave no answer.
    """

    wanted: bool

    shareable: ClassVar = True
    formula: ClassVar = "(status == success ∧ answer ≠ '') == wanted"
    examples: ClassVar = (
        passes(True, answer="done"),
        passes(False, answer=""),
        fails(True, answer="", because="the answer is empty"),
        fails(True, answer="gave up", status=TraceStatus.FAILURE, because="failure"),
        fails(False, answer="done", because="completed"),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        answered = bool((trace.answer_text or "").strip())
        completed = answered and trace.status is TraceStatus.SUCCESS
        if completed is self.wanted:
            return self.pass_result
        if completed:
            return self.failed("the task was completed, but was expected not to be")
        found = f"the status is {trace.status.value}" if answered else "the answer is empty"
        return self.failed(f"the task was not completed: {found}")

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return ("completed" if self.wanted else "not completed, as expected"), {
            "wanted": self.wanted,
            "found": self.wanted,
        }
