"""`max_tool_errors`: not too many tool calls fail."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct

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
from trialrun.model.failed_calls import FailedCall, failed_calls
from trialrun.model.results import CheckResult, Severity
from trialrun.model.trace import TOOL_CALLS, Step, StepStatus, Trace
from trialrun.redaction import is_masked

_BROKEN = Step.tool_call("find", {"order": "12"}, error="timeout")
_FOUND = Step.tool_call("find", {"order": "12"}, "sent")
_HIDDEN = {"key": "[redacted]"}
_SHOWN = 5


class ToolErrors(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`{value: 0, retried: counted}`: the limit, and whether calls that were repeated count."""

    value: Whole
    retried: Literal["allowed", "counted"] = "allowed"
    severity: Severity | None = None


@check(layer="path", needs={TOOL_CALLS})
class MaxToolErrors(Check):
    """Fails when more than `limit` tool calls failed, whether or not the agent went on.

    A call that failed and was repeated with success, with the same arguments, does not count.
    `{value: 0, retried: counted}` counts it.
    """

    limit: Whole | ToolErrors

    stricter: ClassVar = {"limit": "lower", "limit.value": "lower"}
    formula: ClassVar = "|failed calls not repeated with success| ≤ limit"
    recommended: ClassVar = "0"
    examples: ClassVar = (
        passes(0, steps=[_BROKEN, _FOUND]),
        passes(1, steps=[_BROKEN]),
        fails(0, steps=[_BROKEN], because='1 failed call, limit 0: find failed: "timeout"'),
        fails(
            {"value": 0, "retried": "counted"},
            steps=[_BROKEN, _FOUND],
            because="repeated with success",
        ),
        is_unknown(
            0,
            steps=[Step.tool_call("find", {}, status=StepStatus.PENDING)],
            because="whether 1 call failed was not recorded",
        ),
        is_unknown(
            0,
            steps=[
                Step.tool_call("login", _HIDDEN, status=StepStatus.FAILURE),
                Step.tool_call("login", _HIDDEN),
            ],
            because="redacted",
        ),
    )

    def __post_init__(self) -> None:
        if isinstance(self.limit, ToolErrors):
            self.severity = self.limit.severity or self.severity
        super().__post_init__()

    @property
    def _most(self) -> int:
        return self.limit.value if isinstance(self.limit, ToolErrors) else self.limit

    @property
    def _counts_retried(self) -> bool:
        return isinstance(self.limit, ToolErrors) and self.limit.retried == "counted"

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        pending = sum(step.status is StepStatus.PENDING for step in trace.tool_calls)
        if len(trace.failed_calls) + pending <= self._most:
            return self.pass_result
        found = self._counted(trace)
        if len(found) > self._most:
            return self.failed(*self._described(found))
        if len(found) + pending > self._most:
            return self.unknown(f"whether {counted(pending, 'call')} failed was not recorded")
        # Different calls may look equal when masked: what looks repeated may be another call.
        sure = len(found) + sum(
            call.retried and is_masked([call.tool, *_arguments(trace, call)])
            for call in failed_calls(trace)
        )
        hides = sure > self._most and not self._counts_retried
        return self.redacted("the calls") if hides else self.pass_result

    def _counted(self, trace: Trace) -> list[FailedCall]:
        return [call for call in failed_calls(trace) if self._counts_retried or not call.retried]

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self._described(self._counted(trace))

    def _described(self, found: list[FailedCall]) -> Description:
        text = f"{counted(len(found), 'failed call')}, limit {self._most:,}"
        shown = [str(call) for call in found]
        if shown:
            more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
            text += f": {'; '.join(shown[:_SHOWN])}{more}"
        figures = {"found": len(found), "limit": self._most}
        return text, {**figures, "failed": shown, "steps": [call.step for call in found]}


def _arguments(trace: Trace, call: FailedCall) -> list[Any]:
    return [step.tool_args for step in trace.failed_calls if step.id == call.step]
