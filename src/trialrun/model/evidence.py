"""The kinds of evidence, and the one rule that says which of them a trace has recorded.

A check or a metric whose evidence was not recorded is *unknown*: a trace without recorded tool
calls is not a run that called no tool. The rule is the same for files, for code and for live
agents.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from trialrun.errors import UsageError
from trialrun.model.steps import lacks_usage

if TYPE_CHECKING:
    from trialrun.model.steps import Step
    from trialrun.model.trace import Trace

ANSWER = "answer"
TOOL_CALLS = "tool_calls"
TOOL_ARGS = "tool_args"
TOOL_RESULTS = "tool_results"
LLM_CALLS = "llm_calls"
TOKENS = "tokens"
COSTS = "costs"
TIMINGS = "timings"
REASONING = "reasoning"
HANDOFFS = "handoffs"
RETRIEVALS = "retrievals"

_FORMAT_1 = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS, TOKENS, COSTS, TIMINGS, REASONING})
"""The kinds that format 1 had."""

EVIDENCE = _FORMAT_1 | {ANSWER, LLM_CALLS, HANDOFFS, RETRIEVALS}
"""Every kind of evidence that a trace can record."""

COMPUTED_FROM = {COSTS: TOKENS}
"""Kinds that can be computed from another kind if they were not recorded themselves."""

WITHOUT_STEPS = frozenset({ANSWER, TIMINGS})
"""The kinds that can be recorded where the steps were not."""


class Derived(frozenset[str]):
    """The kinds derived from the content of a trace: derived again whenever the trace changes.

    A plain frozenset was given by the file or the code, and stays as it is.
    """

    __slots__ = ()


class StepsNotGiven(tuple["Step", ...]):
    """The steps of a trace that was made without any: unlike `[]`, not a run without steps."""

    __slots__ = ()

    def __new__(cls, _steps: Sequence[Step] = ()) -> StepsNotGiven:
        return NOT_GIVEN  # copies too: it is compared by identity


NOT_GIVEN: StepsNotGiven = tuple.__new__(StepsNotGiven)

# One flag for each thing that the kinds depend on.
_ANSWERED, _TIMED, _GIVEN, _HAS_ARGS, _HAS_RESULTS = 1, 2, 4, 8, 16
_HAS_MODEL_CALLS, _HAS_USAGE = 32, 64
_KINDS = {
    _ANSWERED: (ANSWER,),
    _TIMED: (TIMINGS,),
    _GIVEN: (TOOL_CALLS, HANDOFFS, RETRIEVALS, REASONING),
    _HAS_ARGS: (TOOL_ARGS,),
    _HAS_RESULTS: (TOOL_RESULTS,),
    _HAS_MODEL_CALLS: (LLM_CALLS, COSTS),
    _HAS_USAGE: (TOKENS,),
}
_SETS = [
    Derived(kind for flag, kinds in _KINDS.items() if flags & flag for kind in kinds)
    for flags in range(128)
]


def derived(trace: Trace) -> Derived:
    """What the trace recorded, by its content.

    Given steps are all tool calls, handoffs, retrievals and reasoning steps that happened, even if
    there are none. They are all model calls only if one is among them: many recorders list tool
    calls only, and tokens and costs belong to model calls. Counts that are all 0 although a model
    gave output are a stream without usage, and count as no tokens.
    """
    flags = 0 if trace.output is None else _ANSWERED
    steps = trace.steps
    if steps is not NOT_GIVEN:
        flags |= _GIVEN
        calls = trace.tool_calls
        # Nearly always the first call has them, and a generator costs more than all the rest.
        if (
            not calls
            or calls[0].tool_args is not None
            or any(call.tool_args is not None for call in calls)
        ):
            flags |= _HAS_ARGS
        if (
            not calls
            or calls[0].tool_result is not None
            or any(call.tool_result is not None for call in calls)
        ):
            flags |= _HAS_RESULTS
        if trace.llm_calls:
            flags |= _HAS_MODEL_CALLS
            if trace.summed_tokens != 0 or not lacks_usage(trace.llm_calls):
                flags |= _HAS_USAGE
    if (
        trace.duration_ms is not None
        or (trace.started_at is not None and trace.completed_at is not None)
        or (steps and all(_is_timed(step) for step in steps))
    ):
        flags |= _TIMED
    return _SETS[flags]


def _is_timed(step: Step) -> bool:
    return step.duration_ms is not None or step.timestamp is not None


def settled(
    given: frozenset[str], trace: Trace, version: int, was_written: bool = False
) -> frozenset[str]:
    """What the trace recorded: the kinds that were given for it, else those that are derived.

    `was_written`: trialrun wrote the trace, and with it the kinds that were derived then, too.
    """
    by_content = derived(trace)
    if type(given) is Derived or (was_written and version > 1 and given == by_content):
        return by_content
    found = _as_given(given, trace, version, by_content)
    return by_content if was_written and found == by_content else found


def _as_given(
    given: frozenset[str], trace: Trace, version: int, by_content: Derived
) -> frozenset[str]:
    if version == 1 and given == _FORMAT_1:  # what format 1 wrote if nothing was said
        return by_content
    if trace.output is not None and (version == 1 or (given and given <= _FORMAT_1)):
        given |= {ANSWER}  # in format 1 the answer had no name
    return _with_implied(given) if version == 1 else given


def _with_implied(kinds: frozenset[str]) -> frozenset[str]:
    """The kinds that a list of format 1 implies: it had fewer names for the same evidence."""
    if TOKENS in kinds:
        kinds |= {LLM_CALLS}
    if TOOL_CALLS in kinds:
        kinds |= {HANDOFFS, RETRIEVALS}
    return kinds


@lru_cache(maxsize=4096)  # asked for the same few sets in every trace
def missing(needs: frozenset[str], recorded: frozenset[str]) -> frozenset[str]:
    """The kinds that are needed, and neither recorded nor computed from another kind."""
    return needs - recorded - {kind for kind, other in COMPUTED_FROM.items() if other in recorded}


def not_recorded(kinds: frozenset[str]) -> str:
    """The message for missing kinds."""
    return f"not recorded in this trace: {', '.join(sorted(kinds))}"


def needs_of(owner: str, needs: Any) -> frozenset[str]:
    """The kinds that a check or a metric needs; UsageError for a kind that does not exist."""
    kinds = frozenset(needs) if isinstance(needs, (set, frozenset, list, tuple)) else None
    if kinds is None or not kinds <= EVIDENCE:
        wanted = f"expected kinds among {', '.join(sorted(EVIDENCE))}"
        raise UsageError(f"{owner}: needs: {wanted}; found {needs!r:.80}")
    return kinds


def of_turn(kinds: Any, trace: Trace, steps: Sequence[Step], answer: str | None) -> frozenset[str]:
    """What was recorded in one turn: the `kinds` kept for it, else those of the trace."""
    found = frozenset(trace.recorded)
    if isinstance(kinds, list):
        found = EVIDENCE & set(kinds)
        if found == _FORMAT_1:
            return Derived() if steps else frozenset()
        if found <= _FORMAT_1:
            found = _with_implied(found)
    withheld = trace.output is not None and ANSWER not in trace.recorded
    return found - {ANSWER} if answer is None or withheld else found | {ANSWER}
