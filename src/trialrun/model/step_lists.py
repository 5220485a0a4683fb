"""The list of steps of a trace: checked, and each step with an id of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from msgspec.structs import force_setattr

from trialrun.model.evidence import NOT_GIVEN
from trialrun.model.steps import NEW_ID, Step, StepType
from trialrun.model.usage import TokenUsage, counted_for
from trialrun.model.values import refuse


def required_steps(steps: object) -> Sequence[Step]:
    """The steps as given; anything but a list of steps is refused."""
    if not isinstance(steps, (list, tuple)):
        refuse("Trace", "steps", "a list of Step", steps)
    assert isinstance(steps, (list, tuple))
    for position, step in enumerate(steps):
        if type(step) is not Step:
            refuse("Trace", f"steps[{position}]", "a Step", step)
    return steps


_TOOL_CALL = StepType.TOOL_CALL


def usable(steps: Sequence[Step]) -> bool:
    """Check decoded steps for what their types cannot say, and complete the usage of calls.

    False if a step needs more care than that: constructors then refuse or convert it, with a note.
    """
    names = [step.id for step in steps]
    distinct = set(names)
    if len(distinct) < len(names) and len(distinct - {""}) < len(names) - names.count(""):
        return False  # is it the same step twice?
    nested = False
    for step in steps:
        tokens, moment = step.tokens, step.timestamp
        if step.parent_id is not None:
            nested = True
        if not step.tool_name and step.type is _TOOL_CALL:
            return False
        if moment is not None and moment.tzinfo is None:
            return False
        if tokens is not None and (
            tokens.total_tokens != tokens.prompt_tokens + tokens.completion_tokens
            or tokens.cached_tokens
            or tokens.cache_write_tokens
            or tokens.reasoning_tokens
            or tokens.cache_write_1h_tokens
        ):
            whole = _whole_usage(tokens, step.model)
            if whole is None:
                return False
            force_setattr(step, "tokens", whole)
    return not nested or _follow_parents(steps)


def _follow_parents(steps: Sequence[Step]) -> bool:
    """Whether each step comes after its parent: in any other order, there may be a circle."""
    known: set[str] = set()
    for step in steps:
        if step.parent_id is not None and step.parent_id not in known:
            return False
        if step.id:
            known.add(step.id)
    return True


def _whole_usage(tokens: TokenUsage, model: str | None) -> TokenUsage | None:
    """The decoded usage with its total; None if a part of it may be missing or wrong."""
    parts = tokens.prompt_tokens, tokens.completion_tokens
    total = tokens.total_tokens
    if 0 < total < sum(parts) or (total < 0 and 0 in parts):
        return None  # 0 is also what a count that was not given has become
    return counted_for(msgspec.structs.replace(tokens), model)


def numbered(
    steps: Sequence[Step], first: int, others: Collection[str], numbers: dict[str, str]
) -> Sequence[Step]:
    """The steps as a tuple; one with a provisional id gets its number, so that details can name it.

    `numbers` has the number of each provisional id, for the steps that name it as their parent.
    """
    if steps is NOT_GIVEN:
        return steps
    taken = {step.id for step in steps}
    if not numbers and "" not in taken and NEW_ID not in "\n".join(taken):
        return tuple(steps)  # every step was given with an id
    made = []
    for number, step in enumerate(steps, first):
        if not step.id or step.id.startswith(NEW_ID):
            name = str(number)
            while name in taken or name in others:  # another step has that id already
                name += "'"
            if step.id:
                numbers[step.id] = name
            step = msgspec.structs.replace(step, id=name)
        made.append(step)
    for position, step in enumerate(made if numbers else ()):
        if step.parent_id is not None and step.parent_id in numbers:
            made[position] = msgspec.structs.replace(step, parent_id=numbers[step.parent_id])
    return tuple(made)
