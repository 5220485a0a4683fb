"""The list of steps of a trace: checked, and each step with an id of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from trialrun.model.evidence import NOT_GIVEN
from trialrun.model.steps import NEW_ID, Step
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


def numbered(
    steps: Sequence[Step], first: int, others: Collection[str], numbers: dict[str, str]
) -> Sequence[Step]:
    """The steps as a tuple; one with a provisional id gets its number, so that details can name it.

    `numbers` has the number of each provisional id, for the steps that name it as their parent.
    """
    if steps is NOT_GIVEN:
        return steps
    taken = {step.id for step in steps}
    made = []
    for number, step in enumerate(steps, first):
        if step.id.startswith(NEW_ID):
            name = str(number)
            while name in taken or name in others:  # another step has that id already
                name += "'"
            numbers[step.id] = name
            step = msgspec.structs.replace(step, id=name)
        made.append(step)
    for position, step in enumerate(made if numbers else ()):
        if step.parent_id is not None and step.parent_id in numbers:
            made[position] = msgspec.structs.replace(step, parent_id=numbers[step.parent_id])
    return tuple(made)
