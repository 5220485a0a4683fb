"""What was changed and has to be looked at, and by what it was."""

from __future__ import annotations

from msgspec import Struct

from trialrun.verification import deeds as d
from trialrun.verification.covered import Covered
from trialrun.verification.events import FILE, Change, Key, Look


class Duty(Struct, gc=False):
    """A thing that was changed: its last change, and the look that answers it."""

    change: Change
    met_by: Look | None = None


def duties_of(covered: Covered) -> list[Duty]:
    """One for each thing that is still changed at the end, in the order of first change."""
    events = covered.events
    last: dict[tuple[str, str], Change] = {}  # by kind and target; a folder by its program too
    order: list[tuple[str, str]] = []
    created: set[str] = set()
    first_seen: dict[str, int] = {}
    for look in events.looks:
        for path in look.paths:
            first_seen.setdefault(path, look.at)
    for change in events.changes:
        key = change.key[:2] if change.is_tree else (change.kind, change.target)
        if change.kind == "restored" or change.restored:
            last.pop((FILE, change.target), None)
            continue
        if change.removed and change.target in created:
            last.pop(key, None)  # made and thrown away within the run
            continue
        if (
            change.kind == FILE
            and key not in last
            and not change.removed
            and first_seen.get(change.target, change.at) >= change.at
        ):
            created.add(change.target)
        if key not in last:
            order.append(key)
        last[key] = change
    duties = [Duty(last[key]) for key in dict.fromkeys(order) if key in last]
    _meet(duties, covered)
    return duties


def _meet(duties: list[Duty], covered: Covered) -> None:
    """Each look answers what is open when it happens. A changed thing that no look fits stays open."""
    coming = sorted(duties, key=lambda duty: duty.change.at, reverse=True)
    waiting: dict[Key, Duty] = {}
    for look in covered.events.looks:
        while coming and coming[-1].change.at < look.at:
            duty = coming.pop()
            waiting[duty.change.key] = duty
        if look.informs and waiting:
            for key in list(covered.among(look, waiting)):
                waiting.pop(key).met_by = look


def is_code(change: Change) -> bool:
    """Whether tests would be expected after this change."""
    return (
        change.kind == FILE
        and not change.removed
        and change.language not in (None, "docs", "markup", "docker", "terraform")
    )


GATES = frozenset({d.LINT, d.TYPES, d.FORMAT, d.BUILD, d.CONFIG})
