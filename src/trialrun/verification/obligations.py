"""What was changed and has to be looked at, and by what it was."""

from __future__ import annotations

from msgspec import Struct

from trialrun.verification import deeds as d
from trialrun.verification.coverage import covers
from trialrun.verification.events import FILE, Change, Events, Look


class Duty(Struct):
    """A thing that was changed: its last change, and the look that answers it."""

    change: Change
    met_by: Look | None = None


def duties_of(events: Events) -> list[Duty]:
    """One for each thing that is still changed at the end, in the order of first change."""
    last: dict[tuple[str, str], Change] = {}
    order: list[tuple[str, str]] = []
    created: set[str] = set()
    for change in events.changes:
        key = (change.kind, change.target)
        if change.kind == "restored":
            last.pop((FILE, change.target), None)
            continue
        if change.removed and change.target in created:
            last.pop(key, None)  # made and thrown away within the run
            continue
        if (
            change.kind == FILE
            and key not in last
            and not change.removed
            and not _was_there(events, change)
        ):
            created.add(change.target)
        if key not in last:
            order.append(key)
        last[key] = change
    duties = [Duty(last[key]) for key in dict.fromkeys(order) if key in last]
    _meet(duties, events)
    return duties


def _was_there(events: Events, change: Change) -> bool:
    return any(change.target in look.paths for look in events.looks if look.at < change.at)


def _meet(duties: list[Duty], events: Events) -> None:
    """Each look answers what is open when it happens. A changed thing that no look fits stays open.

    Files of one language and folder are alike to most looks, so the answer is kept for them.
    """
    for look in events.looks:
        if not look.informs:
            continue
        for duty in duties:
            if (
                duty.change.at < look.at
                and duty.met_by is None
                and covers(look, duty.change, events)
            ):
                duty.met_by = look


def is_code(change: Change) -> bool:
    """Whether tests would be expected after this change."""
    return (
        change.kind == FILE
        and not change.removed
        and change.language not in (None, "docs", "markup", "docker", "terraform")
    )


def ran_after(events: Events, kinds: frozenset[str], at: int) -> list[Look]:
    """The runs of those kinds after a moment that showed something."""
    return [look for look in events.looks if look.kind in kinds and look.at > at and look.informs]


GATES = frozenset({d.LINT, d.TYPES, d.FORMAT, d.BUILD, d.CONFIG})
