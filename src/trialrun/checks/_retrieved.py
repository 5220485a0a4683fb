"""Collects the results of a run's searches, for the checks of the retrieval layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from trialrun.checks._masks import occurs, visible
from trialrun.checks.base import Check, Text
from trialrun.measures.retrieval import WRAPPING, SearchResult, read_results
from trialrun.measures.search_texts import OURS, Wordings
from trialrun.model.results import CheckResult
from trialrun.model.trace import Step, StepStatus, StepType, Trace
from trialrun.redaction import is_masked

_TOOL_CALL = StepType.TOOL_CALL
_RETRIEVAL = StepType.RETRIEVAL


class Replacement(Struct, frozen=True):
    """The texts that mean "nothing found", in place of the built-in wordings."""

    replace: list[Text]


EmptyMarkers = list[Text] | Replacement

ABOUT: Mapping[str, str] = {
    "tool": "the tool that searches; without it the steps of type retrieval count",
    "empty_markers": 'further texts that mean "nothing found" if they are the whole result; '
    '`{replace: […]}` replaces the built-in ones ("No results found.", "None", "0 matches")',
    "allow_empty_if_said": "passes where nothing was found and the answer contains one of these",
}


class Retrieved(Struct, frozen=True):
    """All results of all searches, with masks replaced by gaps.

    `unread` says why some results cannot be read, if so; `redacted` names what was masked.
    `miscounted`: a mask is in a place where it could hide further results. `sure` counts the
    results that are surely some, and `doubt` says what the others are.
    """

    called: bool
    results: tuple[SearchResult, ...]
    countable: bool
    unread: str = ""
    redacted: str = ""
    miscounted: bool = False
    sure: int = 0
    doubt: str = ""


def retrieved(
    trace: Trace, tool: str | None, empty_markers: EmptyMarkers | None = None
) -> Retrieved:
    """The results of that tool; if it is None, of the steps of type retrieval."""
    wordings = _wordings(empty_markers)
    searches = [
        step
        for step in trace.steps
        if step.type is _RETRIEVAL or (step.type is _TOOL_CALL and tool is not None)
    ]
    steps = [step for step in searches if tool in (None, step.tool_name)]
    results: list[SearchResult] = []
    countable, unread, redacted, miscounted = True, "", "", False
    sure, doubt = 0, ""
    for step in steps:
        problem = _why_unread(step)
        if problem:
            unread = unread or f"the result of step {step.id} {problem}"
            continue
        read = read_results(step.tool_result, wordings)
        if read.problem:
            unread = unread or f"the result of step {step.id} {read.problem}"
        countable &= read.countable
        if read.doubt:
            doubt = doubt or f"the result of step {step.id} {read.doubt}"
        else:
            sure += len(read.results)
        if is_masked(step.tool_result):
            redacted = "the results"
            miscounted |= _hides_structure(step.tool_result)
            results += map(_with_gaps, read.results)
        else:
            results += read.results
    if tool is not None and any(is_masked(step.tool_name) for step in searches):
        redacted, miscounted = redacted or "the tools' names", True
    return Retrieved(
        bool(steps), tuple(results), countable, unread, redacted, miscounted, sure, doubt
    )


def _why_unread(step: Step) -> str:
    if step.status is not StepStatus.SUCCESS or step.error:
        return "is that of a call that failed or did not end"
    return "was not recorded" if step.tool_result is None else ""


def _wordings(markers: EmptyMarkers | None) -> Wordings:
    if markers is None:
        return OURS
    if isinstance(markers, Replacement):
        return Wordings.of(markers.replace, replaced=True)
    return Wordings.of(markers)


def _hides_structure(result: Any) -> bool:
    """Whether a mask is in a text that may have been JSON, or in a key that may name a list."""
    if isinstance(result, Mapping):
        inside = [
            value for key, value in result.items() if key in WRAPPING or not isinstance(value, str)
        ]
        return is_masked([*result]) or any(map(_hides_structure, inside))
    if isinstance(result, (list, tuple)):
        # Items of a list are results; the texts of parts are not (`{"type": "text", …}`).
        return any(_hides_structure(item.get("text")) for item in result if _is_text_part(item))
    return isinstance(result, str) and is_masked(result)


def _is_text_part(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "text"


def _with_gaps(found: SearchResult) -> SearchResult:
    return SearchResult(tuple(map(visible, found.sources)), visible(found.text))


def searched(tool: str | None) -> str:
    """The name of the search in a message."""
    return f"`{tool}`" if tool else "a retrieval"


def said_so(check: Check, trace: Trace, phrases: Sequence[str] | None) -> CheckResult | None:
    """A pass if the answer contains one of the phrases (case-insensitive), None if not."""
    if not phrases:
        return None
    answer = (trace.answer_text or "").lower()
    said = next((phrase for phrase in phrases if occurs(phrase.lower(), answer)), None)
    if said is not None:
        return check.passed(f'nothing was found, and the answer says so: "{said}"')
    return check.redacted("the answer") if is_masked(answer) else None
