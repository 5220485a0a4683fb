"""The largest matching between two groups, for example expected calls and actual calls."""

from __future__ import annotations

from collections.abc import Sequence


def largest_matching(choices: Sequence[Sequence[int]]) -> list[int | None]:
    """For each seeker, the item assigned to it from its choices, or None.

    As many seekers as possible get an item. Taking the first free item for each would leave out a
    seeker whose only choice was taken by one that had others; here the earlier seeker is moved to
    another of its choices (augmenting paths, without recursion).
    """
    owner: dict[int, int] = {}
    assigned: list[int | None] = [None] * len(choices)
    for seeker in range(len(choices)):
        # Breadth-first search from this seeker: its choices, their owners, the owners' choices …
        # until an item is free.
        came_from: dict[int, int] = {}
        queue = [seeker]
        free = None
        for current in queue:
            for item in choices[current]:
                if item in came_from:
                    continue
                came_from[item] = current
                if item not in owner:
                    free = item
                    break
                queue.append(owner[item])
            if free is not None:
                break
        while free is not None:
            current = came_from[free]
            before = assigned[current]
            owner[free], assigned[current] = current, free
            free = before
    return assigned
