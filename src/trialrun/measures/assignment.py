"""Who goes with whom: the largest matching between two groups."""

from __future__ import annotations

from collections.abc import Sequence


def largest_matching(choices: Sequence[Sequence[int]]) -> list[int | None]:
    """For each seeker, the one it is given out of its choices, or None.

    As many seekers as possible are served. Giving each the first that is free would leave one
    empty-handed whose only choice was taken by another that had more; here the earlier one moves
    over (augmenting paths, without recursion).
    """
    holder: dict[int, int] = {}
    given: list[int | None] = [None] * len(choices)
    for seeker in range(len(choices)):
        # Breadth first from this seeker over "wants -> held by -> wants" until one is free.
        came_from: dict[int, int] = {}
        queue = [seeker]
        free = None
        for person in queue:
            for item in choices[person]:
                if item in came_from:
                    continue
                came_from[item] = person
                if item not in holder:
                    free = item
                    break
                queue.append(holder[item])
            if free is not None:
                break
        while free is not None:
            person = came_from[free]
            before = given[person]
            holder[free], given[person] = person, free
            free = before
    return given
