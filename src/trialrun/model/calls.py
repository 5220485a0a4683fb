"""The calls of a run: what was called with which arguments, and how it ended."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from trialrun.model.argument_rules import EXACT, NO_RULES, Rules
from trialrun.model.evidence import HANDOFFS, LLM_CALLS, RETRIEVALS, TOOL_ARGS
from trialrun.model.steps import Step, StepStatus, StepType
from trialrun.model.trace import Trace, TraceStatus
from trialrun.util.keys import key_of
from trialrun.util.texts import short_repr

LONGEST_VALUE = 60
"""Characters of a value that are shown."""


class Call(Struct, frozen=True, gc=False):
    """A tool call, a handoff or a retrieval. `arguments` of None were not recorded.

    `reply` is the number of the model's reply that asked for it: calls of one reply have no order.
    `pending`: it was asked for, and what came of it was not recorded.
    """

    name: str
    arguments: Mapping[str, Any] | None
    result: Any = None
    error: str | None = None
    reply: int = 0
    step: str = ""
    pending: bool = False


_KINDS = {StepType.HANDOFF: HANDOFFS, StepType.RETRIEVAL: RETRIEVALS}
"""The kind of evidence that calls other than those of tools belong to."""


def calls_of(trace: Trace, kinds: Collection[str] = (HANDOFFS, RETRIEVALS)) -> list[Call]:
    """The calls in order; a failed call that was repeated with success counts once.

    Of handoffs and retrievals, those of these kinds.
    """
    return settled(_recorded(trace, kinds))


def _recorded(trace: Trace, kinds: Collection[str]) -> list[Call]:
    replies = _Replies(trace)
    has_arguments = TOOL_ARGS in trace.recorded
    return [
        Call(
            name,
            _arguments(step, has_arguments),
            step.tool_result,
            error_of(step),
            replies.of(index),
            step.id,
            step.status is StepStatus.PENDING,
        )
        for index, step in enumerate(trace.steps)
        if (name := _name(step)) and (step.type not in _KINDS or _KINDS[step.type] in kinds)
    ]


def settled(calls: Sequence[Call], rules: Rules = NO_RULES) -> list[Call]:
    """The calls without those that failed and were repeated with success.

    The repeated call may differ in arguments that the rules do not compare exactly (another request
    id), and in all arguments of a tool that may be called any number of times. If the very next
    reply repeats it, it has the place of the failed call: which of the calls that one reply asked
    for failed would otherwise change their order.
    """
    failing = {call.name for call in calls if call.error is not None}
    succeeded: dict[bytes, int] = {}  # where in `kept`
    kept: list[Call] = []
    for call in reversed(calls) if failing else ():
        if call.name in failing:
            key = _repeat_key(call, rules)
            if call.error is None and key is not None and not call.pending:
                succeeded[key] = len(kept)
            elif call.error is not None and key in succeeded:
                again = kept[succeeded[key]]
                if again.reply == call.reply + 1:
                    kept[succeeded[key]] = replace(again, reply=call.reply)
                continue
        kept.append(call)
    return kept[::-1] if failing else list(calls)


def _repeat_key(call: Call, rules: Rules) -> bytes | None:
    """Equal for calls of which one can be a repetition of the other; None if that is unknown."""
    if rules.is_any_number(call.name):
        return key_of(call.name)
    if call.arguments is None:
        return None  # not recorded: it may have been another call
    given = dict(leaves(call.arguments))
    known = rules.arguments.get(call.name, {})
    if known:
        given = {name: one for name, one in given.items() if known.get(name, EXACT) == EXACT}
    return key_of([call.name, given])


def model_calls_of(trace: Trace) -> int | None:
    """How many calls of models the run made; None if that was not recorded.

    A reply does not count if it asked only for calls that failed and were corrected.
    """
    if LLM_CALLS not in trace.recorded:
        return None
    asked: set[int] = set()
    counting: set[int] = set()
    if trace.failed_calls:
        calls = _recorded(trace, _KINDS.values())
        corrected = {index for index, _ in corrections(calls)}
        asked = {call.reply for call in calls if call.reply > 0}  # below: before the first reply
        counting = {call.reply for at, call in enumerate(calls) if at not in corrected}
    return len(trace.llm_calls) - len(asked - counting)


_STOP = ("stop_reason", "finish_reason")


def ending_of(trace: Trace) -> str | None:
    """How the run ended: its status, else why its last model call stopped, if that is recorded."""
    if trace.status is not TraceStatus.SUCCESS:
        return trace.status.value
    last = trace.llm_calls[-1].metadata if trace.llm_calls else {}
    reasons = (holder.get(key) for holder in (trace.metadata, last) for key in _STOP)
    return next((str(reason) for reason in reasons if reason is not None), None)


def error_of(step: Step) -> str | None:
    """Why the call failed; None if it did not."""
    if step.status is not StepStatus.FAILURE and not step.error:
        return None
    return short_text(step.error or step.tool_result or "it failed")


def _name(step: Step) -> str | None:
    if step.type is StepType.HANDOFF:
        return f"handoff to {step.handoff_to}"
    if step.type is StepType.RETRIEVAL:
        return step.tool_name or "retrieval"
    return step.tool_name if step.type is StepType.TOOL_CALL else None


def _arguments(step: Step, are_recorded: bool) -> Mapping[str, Any] | None:
    if step.type is StepType.RETRIEVAL and step.tool_args is None:
        return {} if step.input is None else {"query": step.input}
    if step.type is StepType.HANDOFF:
        return {}
    return step.tool_args if are_recorded else None


class _Replies:
    """The number of the reply that asked for a step: that of its parent, else the last one.

    Where no model call was recorded, and before the first one, each call is a reply of its own.
    """

    def __init__(self, trace: Trace) -> None:
        self._numbers: list[int] = []
        by_id: dict[str, int] = {}
        number = 0
        recorded = LLM_CALLS in trace.recorded
        for index, step in enumerate(trace.steps):
            if step.type is StepType.LLM_CALL and recorded:
                number += 1
                by_id[step.id] = number
            last = number or index - len(trace.steps)
            self._numbers.append(by_id.get(step.parent_id or "", last))

    def of(self, index: int) -> int:
        return self._numbers[index]


def corrections(calls: Sequence[Call]) -> Iterator[tuple[int, str]]:
    """The failed calls, with their tool, after which a call of the same tool succeeded."""
    succeeded = set()
    for index in reversed(range(len(calls))):
        name = calls[index].name
        if calls[index].error is None:
            succeeded.add(name)
        elif name in succeeded:
            yield index, name


# Arguments and their texts


def leaves(arguments: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each argument by its path: `filter.date`. A list is one value.

    A dot in a name has a backslash, `filter\\.date`: two arguments never have the same path.
    A text that is JSON is read: it would be taken for free text, whatever amount it contains.
    """
    for name, given in arguments.items():
        value = _read(given) if isinstance(given, str) and given[:1] in ("{", "[") else given
        path = prefix + str(name).replace("\\", "\\\\").replace(".", "\\.")
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{path}.")
        else:
            yield path, value


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text


def called(call: Call) -> str:
    """The call in a line: `issue_refund(order_id: "12", amount: 20)`, shortened."""
    if not call.arguments:
        return call.name
    shown: list[str] = []
    for name, value in leaves(call.arguments):
        if sum(map(len, shown)) > LONGEST_VALUE:
            shown.append("…")
            break
        shown.append(f"{name}: {short_text(value)}")
    return f"{call.name}({', '.join(shown)})"


def short_text(value: Any) -> str:
    """The value as JSON, shortened."""
    text = " ".join(value.split()) if isinstance(value, str) else json_text(value)
    cut = text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"
    return f'"{cut}"' if isinstance(value, str) else cut


def json_text(value: Any) -> str:
    """The value as JSON, or as Python shows it."""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return short_repr(value)
