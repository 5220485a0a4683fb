"""The path of a run as an edit script: what it did otherwise than was expected, call by call."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from trialrun.measures.alignment import Alignment

SAME, MISSING, EXTRA, MOVED, CHANGED = "", "-", "+", "~", "*"
"""The marks: as expected; expected and not there; not expected; at another place; the same call
with other arguments, or another outcome."""

GAP = "…"
"""The mark of calls that are left out, as expected all of them; their number is in the name."""

PathStep = tuple[str, str]
"""A mark and the name of a tool."""

_CONTEXT = 2  # calls as expected that are kept beside a difference
_MOST_STEPS = 40


def aligned_path(
    before: Sequence[str], after: Sequence[str], found: Alignment, changed: Iterable[int] = ()
) -> list[PathStep]:
    """The edit script from an alignment; `changed` are positions after, of calls that differ."""
    marks = dict.fromkeys(changed, CHANGED)
    marks |= {new: MOVED for _, new in found.moved} | dict.fromkeys(found.extra, EXTRA)
    old = {new: old for old, new in found.pairs if (old, new) not in found.moved}
    # What is missing comes before what was called in its place: up to the next call of both.
    bounds = [len(before)] * (len(after) + 1)
    for position in reversed(range(len(after))):
        bounds[position] = old.get(position, bounds[position + 1])
    missing = deque(sorted(found.missing))
    script: list[PathStep] = []
    for position, bound in enumerate(bounds):
        is_moved = position < len(after) and marks.get(position) == MOVED
        while missing and missing[0] < bound and not is_moved:
            script.append((MISSING, before[missing.popleft()]))
        if position < len(after):
            script.append((marks.get(position, SAME), after[position]))
    return short_path(script)


def short_path(script: Sequence[PathStep]) -> list[PathStep]:
    """The script without long stretches as expected, and of bounded length."""
    short = [step for part in _parts(script) for step in part]
    if len(short) <= _MOST_STEPS:
        return short
    left = len(short) - _MOST_STEPS
    return [*short[:_MOST_STEPS], (GAP, f"{left} more")]


def _parts(script: Sequence[PathStep]) -> Iterator[Sequence[PathStep]]:
    groups = [list(group) for _, group in groupby(script, key=lambda step: step[0] == SAME)]
    for number, group in enumerate(groups):
        first, last = number == 0, number == len(groups) - 1
        head, tail = 0 if first else _CONTEXT, 0 if last else _CONTEXT
        left = len(group) - head - tail
        if group[0][0] == SAME and left > 1:
            yield [*group[:head], (GAP, f"{left} calls"), *group[len(group) - tail :]]
        else:
            yield group
