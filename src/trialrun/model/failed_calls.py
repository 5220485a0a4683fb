"""The tool calls of a run that failed, and which of them were repeated with success."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from trialrun.model.steps import StepStatus
from trialrun.util.keys import key_of

if TYPE_CHECKING:
    from trialrun.model.steps import Step
    from trialrun.model.trace import Trace

_MOST_KEPT = 50


class FailedCall(Struct, frozen=True, omit_defaults=True):
    """A tool call that failed. `retried`: the same call succeeded later in the run."""

    tool: str
    step: str
    error: str
    retried: bool = False

    def __str__(self) -> str:
        repeated = "; repeated with success" if self.retried else ""
        return f"{self.tool} failed: {self.error}{repeated}"


def failed_calls(trace: Trace) -> Iterator[FailedCall]:
    """The failed calls in order."""
    from trialrun.model.behaviour import error_of

    later = retried_in(trace)
    for step in trace.failed_calls:
        reason = error_of(step) or ""
        yield FailedCall(step.tool_name or "", step.id, reason, step.id in later)


def first_failed_calls(trace: Trace) -> tuple[FailedCall, ...]:
    """The failed calls that a result keeps: the first ones."""
    return tuple(islice(failed_calls(trace), _MOST_KEPT))


def retried_in(trace: Trace) -> set[str]:
    """The ids of the failed calls after which the same call, with the same arguments, succeeded."""
    failed = {step.id for step in trace.failed_calls}
    succeeded: set[bytes] = set()
    found = set()
    for step in reversed(trace.tool_calls if failed else ()):
        if step.tool_args is None or step.status is StepStatus.PENDING:
            continue  # not recorded: it may be another call, or have failed too
        key = _key(step)
        if step.id not in failed:
            succeeded.add(key)
        elif key in succeeded:
            found.add(step.id)
    return found


def _key(step: Step) -> bytes:
    return key_of([step.tool_name, step.tool_args])
