"""The calls of a run beside those that were expected, in order: same, changed, missing, extra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from trialrun.model.argument_rules import NO_RULES, Rules
from trialrun.model.behaviour import Call, CallChange, aligned, changes
from trialrun.model.calls import settled

Kind = Literal["same", "changed", "moved", "missing", "extra"]


class Edit(Struct, frozen=True):
    """One line: a call that was expected, one that was made, or both; and how they differ."""

    kind: Kind
    expected: Call | None
    made: Call | None
    change: CallChange | None = None


def edit_script(
    expected: Sequence[Call],
    made: Sequence[Call],
    rules: Rules = NO_RULES,
    is_hidden: Callable[[Any], bool] = lambda value: False,
) -> list[Edit]:
    """The lines in the order of the calls that were made; what is missing, where it would be.

    Calls are paired and compared as by the checks against a baseline (`behaviour.py`).
    """
    old, new = settled(expected, rules), settled(made, rules)
    found = aligned(old, new, rules, is_hidden)
    # A list of names asks for nothing but names: there is nothing to compare.
    compared = any(call.arguments is not None for call in old)
    found_changes = changes(old, new, rules, is_hidden).changed if compared else ()
    differing = {one.steps[1]: one for one in found_changes}
    partner = {after: before for before, after in found.pairs}
    lines: list[Edit] = []
    places: list[int] = []  # of each line, the last expected call that it comes after
    reached = -1
    for after, call in enumerate(new):
        before = partner.get(after)
        if before is None:
            lines.append(Edit("extra", None, call))
        else:
            moved = (before, after) in found.moved
            reached = reached if moved else before
            change = differing.get(call.step) if call.step else None
            kind: Kind = "moved" if moved else "changed" if change is not None else "same"
            lines.append(Edit(kind, old[before], call, change))
        places.append(reached)
    for before in reversed(found.missing):
        at = next((index for index, place in enumerate(places) if place > before), len(lines))
        lines.insert(at, Edit("missing", old[before], None))
        places.insert(at, before)
    return lines
