"""Checks calls against a partial order: stages of calls that must follow each other."""

from __future__ import annotations

from collections.abc import Sequence

Stages = Sequence[str | Sequence[str]]


def first_violation(calls: Sequence[str], stages: Stages) -> str | None:
    """The first violation of the order, or None if there is none.

    Every call of a stage comes after all calls of the stage before; inside a stage any order is
    allowed, and so are extra calls. Taking each call as early as possible leaves the most calls for
    the later stages, so one pass decides.
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
