"""Partial orders of calls."""

from __future__ import annotations

from collections.abc import Sequence

Stages = Sequence[str | Sequence[str]]


def first_break(calls: Sequence[str], stages: Stages) -> str | None:
    """What breaks the order first, or None if it holds.

    Every call of a stage comes after all calls of the stage before; inside a stage any order will
    do; extra calls are allowed. Taking each call as early as possible leaves the most room for the
    rest, so one pass decides.
    """
    done = 0
    after = ""
    for stage in stages:
        names = [stage] if isinstance(stage, str) else list(stage)
        taken: set[int] = set()
        for name in names:
            position = next(
                (
                    index
                    for index in range(done, len(calls))
                    if calls[index] == name and index not in taken
                ),
                None,
            )
            if position is None:
                return f"no call of `{name}`{after}"
            taken.add(position)
        if taken:
            last = max(taken)
            done = last + 1
            after = f" after call {done}, `{calls[last]}`"
    return None
