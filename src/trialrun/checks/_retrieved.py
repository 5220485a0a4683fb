"""What the searches of a run gave back, for the checks of the retrieval layer."""

from __future__ import annotations

from msgspec import Struct

from trialrun.measures.retrieval import Found, findings
from trialrun.trace import StepStatus, StepType, Trace

_TOOL_CALL = StepType.TOOL_CALL
_RETRIEVAL = StepType.RETRIEVAL


class Retrieved(Struct, frozen=True):
    """All results of all searches. `unread` says why some cannot be read, if so."""

    called: bool
    results: tuple[Found, ...]
    countable: bool
    unread: str = ""


def retrieved(trace: Trace, tool: str | None) -> Retrieved:
    """The results of that tool; without one, of the steps of type retrieval."""
    steps = [
        step
        for step in trace.steps
        if (step.type is _RETRIEVAL and tool in (None, step.tool_name))
        or (step.type is _TOOL_CALL and tool is not None and step.tool_name == tool)
    ]
    results: list[Found] = []
    countable, unread = True, ""
    for step in steps:
        failed = step.status is StepStatus.FAILURE
        read = None if failed else findings(step.tool_result)
        if read is None:
            kind = "was not recorded" if step.tool_result is None else "cannot be read"
            kind = "is that of a failed call" if failed else kind
            unread = unread or f"the result of step {step.id} {kind}"
            continue
        results += read.results
        countable &= read.countable
    return Retrieved(bool(steps), tuple(results), countable, unread)


def searched(tool: str | None) -> str:
    """How a message names what was looked at."""
    return f"`{tool}`" if tool else "a retrieval"
