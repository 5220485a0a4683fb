"""What an agent did, call by call, and how two runs of a case differ in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.measures.alignment import Alignment, align
from trialrun.measures.arguments import MISSING
from trialrun.model.argument_rules import EXACT, NO_RULES, Rules
from trialrun.model.steps import Step, StepStatus, StepType
from trialrun.model.trace import Trace
from trialrun.util.keys import key_of
from trialrun.util.texts import short_repr

_LONGEST_VALUE = 60


class Call(Struct, frozen=True, gc=False):
    """A tool call, a handoff or a retrieval. `arguments` of None were not recorded.

    `reply` is the number of the model's reply that asked for it: calls of one reply have no order.
    """

    name: str
    arguments: Mapping[str, Any] | None
    result: Any = None
    error: str | None = None
    reply: int = 0
    step: str = ""


class ArgumentChange(Struct, frozen=True, omit_defaults=True):
    """An argument that differs: its values as short texts, None where it was not given."""

    name: str
    before: str | None
    after: str | None
    rule: str = EXACT

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.name} {self.after} added"
        if self.after is None:
            return f"{self.name} {self.before} left out"
        return f"{self.name} {self.before} → {self.after}"


class CallChange(Struct, frozen=True, omit_defaults=True):
    """A call that both runs made, and how it differs."""

    name: str
    steps: tuple[str, str]
    arguments: Sequence[ArgumentChange] = ()
    result: tuple[str, str] | None = None
    error: tuple[str | None, str | None] | None = None

    @property
    def fails_now(self) -> bool:
        """Whether the call succeeded before and fails now."""
        return self.error is not None and self.error[0] is None


class Changes(Struct, frozen=True, omit_defaults=True):
    """How the calls of a run differ from those of another. Names with their arguments, shortened.

    `moved` are calls that changed places with calls of other replies. `not_recorded` are calls
    whose arguments one of the runs did not record.
    """

    matched: int = 0
    changed: Sequence[CallChange] = ()
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()
    moved: Sequence[str] = ()
    not_recorded: Sequence[str] = ()

    @property
    def arguments(self) -> list[str]:
        """The changed arguments, one text for each call."""
        return [
            f"{call.name}: {', '.join(map(str, call.arguments))}"
            for call in self.changed
            if call.arguments
        ]

    @property
    def failures(self) -> list[str]:
        """The calls that succeeded before and fail now."""
        return [
            f"{call.name} fails now: {(call.error or ('', ''))[1]}"
            for call in self.changed
            if call.fails_now
        ]

    def weight(self) -> tuple[int, ...]:
        """How much differs, worst first: to choose among several runs the one that is nearest."""
        return (
            len(self.missing) + len(self.extra),
            len(self.failures),
            sum(len(call.arguments) for call in self.changed),
            len(self.moved),
        )


# The calls of a trace


def calls_of(trace: Trace) -> list[Call]:
    """The calls in order; a failed call that was repeated with success counts once."""
    replies = _Replies(trace.steps)
    steps = [(index, step) for index, step in enumerate(trace.steps) if _name(step)]
    succeeded: Counter[bytes] = Counter()
    calls: list[Call] = []
    for index, step in reversed(steps):
        error = error_of(step)
        key = _key(step)
        if error is None:
            succeeded[key] += 1
        elif succeeded[key]:
            continue
        name = _name(step)
        assert name is not None
        call = Call(name, _arguments(step), step.tool_result, error, replies.of(index), step.id)
        calls.append(call)
    return calls[::-1]


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


def _arguments(step: Step) -> Mapping[str, Any] | None:
    if step.type is StepType.RETRIEVAL and step.tool_args is None:
        return {} if step.input is None else {"query": step.input}
    return {} if step.type is StepType.HANDOFF else step.tool_args


def _key(step: Step) -> bytes:
    return key_of([_name(step), _arguments(step)])


class _Replies:
    """The number of the reply that asked for a step: that of its parent, else the last one.

    Where no model call was recorded, each call is a reply of its own.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._numbers: list[int] = []
        by_id: dict[str, int] = {}
        number = 0
        any_reply = any(step.type is StepType.LLM_CALL for step in steps)
        for step in steps:
            if step.type is StepType.LLM_CALL:
                number += 1
                by_id[step.id] = number
            elif not any_reply:
                number += 1
            asked_by = by_id.get(step.parent_id or "", number)
            self._numbers.append(asked_by)

    def of(self, index: int) -> int:
        return self._numbers[index]


# Two runs


def changes(
    before: Sequence[Call],
    after: Sequence[Call],
    rules: Rules = NO_RULES,
    is_hidden: Callable[[Any], bool] = lambda value: False,
) -> Changes:
    """How the later calls differ from the earlier ones, by the rules for arguments.

    Values that are hidden (a secret was masked) are not compared.
    """
    old = [call for call in before if not rules.is_any_number(call.name)]
    new = [call for call in after if not rules.is_any_number(call.name)]
    found = _aligned(old, new, rules, is_hidden)
    changed, not_recorded = [], []
    for i, j in found.pairs:
        one, other = old[i], new[j]
        if one.arguments is None or other.arguments is None:
            not_recorded.append(one.name)
        arguments = _changed_arguments(one, other, rules, is_hidden)
        difference = _change(one, other, arguments)
        if difference is not None:
            changed.append(difference)
    return Changes(
        matched=len(found.pairs),
        changed=(*changed, *_new_failures(before, after, rules)),
        missing=[called(old[i]) for i in found.missing],
        extra=[called(new[j]) for j in found.extra],
        moved=[new[j].name for _, j in sorted(found.moved)],
        not_recorded=not_recorded,
    )


def pairs_of(before: Sequence[Call], after: Sequence[Call]) -> list[tuple[int, int]]:
    """The positions of the calls that both runs made."""
    return list(_aligned(before, after, NO_RULES, lambda value: False).pairs)


def _aligned(
    old: Sequence[Call], new: Sequence[Call], rules: Rules, is_hidden: Callable[[Any], bool]
) -> Alignment:
    return align(
        [call.name for call in old],
        [call.name for call in new],
        lambda i, j: len(_changed_arguments(old[i], new[j], rules, is_hidden)),
        ([call.reply for call in old], [call.reply for call in new]),
        ([_call_key(call) for call in old], [_call_key(call) for call in new]),
    )


def _new_failures(
    before: Sequence[Call], after: Sequence[Call], rules: Rules
) -> Iterator[CallChange]:
    """Tools that may be called any number of times, and that fail only now."""
    failed = {call.name for call in before if call.error is not None}
    known = {call.name: call for call in before}
    for call in after:
        if call.error is not None and rules.is_any_number(call.name) and call.name not in failed:
            failed.add(call.name)
            earlier = known.get(call.name)
            steps = ("" if earlier is None else earlier.step, call.step)
            yield CallChange(call.name, steps, error=(None, call.error))


def _change(one: Call, other: Call, arguments: Sequence[ArgumentChange]) -> CallChange | None:
    error = None
    if (one.error is None) is not (other.error is None):
        error = one.error, other.error
    result = None
    if one.result != other.result:
        result = short_text(one.result), short_text(other.result)
    if not arguments and error is None and result is None:
        return None
    return CallChange(one.name, (one.step, other.step), arguments, result, error)


def _changed_arguments(
    one: Call, other: Call, rules: Rules, is_hidden: Callable[[Any], bool]
) -> list[ArgumentChange]:
    if one.arguments is None or other.arguments is None:
        return []
    old, new = dict(leaves(one.arguments)), dict(leaves(other.arguments))
    found = []
    for name in dict.fromkeys((*old, *new)):
        rule = rules.of(one.name, name)
        before, after = old.get(name, MISSING), new.get(name, MISSING)
        if not (rule.allows(before, after) or is_hidden(before) or is_hidden(after)):
            texts = [None if one is MISSING else short_text(one) for one in (before, after)]
            found.append(ArgumentChange(name, texts[0], texts[1], rule.text))
    return found


def leaves(arguments: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each argument by its path: `filter.date`. A list is one value."""
    for name, value in arguments.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def called(call: Call) -> str:
    """The call in a line: `issue_refund(order_id: "12", amount: 20)`."""
    if not call.arguments:
        return call.name
    given = ", ".join(f"{name}: {short_text(value)}" for name, value in leaves(call.arguments))
    return f"{call.name}({given})"


def short_text(value: Any) -> str:
    """The value as JSON, shortened."""
    try:
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = short_repr(value)
    text = " ".join(text.split()) if isinstance(value, str) else text
    cut = text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
    return f'"{cut}"' if isinstance(value, str) else cut


def _call_key(call: Call) -> bytes:
    return key_of([call.name, call.arguments])
