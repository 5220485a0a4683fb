"""Collects the results of a run's searches, for the checks of the retrieval layer."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trialrun.checks._masks import visible
from trialrun.measures.retrieval import SearchResult, read_results
from trialrun.model.trace import Step, StepStatus, StepType, Trace
from trialrun.redaction import is_masked

_TOOL_CALL = StepType.TOOL_CALL
_RETRIEVAL = StepType.RETRIEVAL


class Retrieved(Struct, frozen=True):
    """All results of all searches, with masks replaced by gaps.

    `unread` says why some results cannot be read, if so; `redacted` names what was masked.
    `miscounted`: a mask is in a place where it could hide further results.
    """

    called: bool
    results: tuple[SearchResult, ...]
    countable: bool
    unread: str = ""
    redacted: str = ""
    miscounted: bool = False


def retrieved(trace: Trace, tool: str | None) -> Retrieved:
    """The results of that tool; if it is None, of the steps of type retrieval."""
    searches = [
        step
        for step in trace.steps
        if step.type is _RETRIEVAL or (step.type is _TOOL_CALL and tool is not None)
    ]
    steps = [step for step in searches if tool in (None, step.tool_name)]
    results: list[SearchResult] = []
    countable, unread, redacted, miscounted = True, "", "", False
    for step in steps:
        failed = step.status is StepStatus.FAILURE
        read = None if failed else read_results(step.tool_result)
        if read is None:
            unread = unread or f"the result of step {step.id} {_why_unread(step)}"
            continue
        countable &= read.countable
        if is_masked(step.tool_result):
            redacted = "the results"
            miscounted |= _hides_structure(step.tool_result)
            results += map(_with_gaps, read.results)
        else:
            results += read.results
    if tool is not None and any(is_masked(step.tool_name) for step in searches):
        redacted, miscounted = redacted or "the tools' names", True
    return Retrieved(bool(steps), tuple(results), countable, unread, redacted, miscounted)


def _why_unread(step: Step) -> str:
    if step.status is StepStatus.FAILURE:
        return "is that of a failed call"
    return "was not recorded" if step.tool_result is None else "cannot be read"


def _hides_structure(result: Any) -> bool:
    """Whether a mask is in a text that may have been JSON, or in a key that may name a list."""
    if isinstance(result, dict):
        texts = [result[key] for key in ("content", "text", "output") if key in result]
        return is_masked([text for text in [*result, *texts] if isinstance(text, str)])
    return isinstance(result, str)


def _with_gaps(found: SearchResult) -> SearchResult:
    return SearchResult(tuple(map(visible, found.sources)), visible(found.text))


def searched(tool: str | None) -> str:
    """The name of the search in a message."""
    return f"`{tool}`" if tool else "a retrieval"
