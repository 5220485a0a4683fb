"""Counts repeated calls: adjacent ones, and those with the same arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def loop_count(calls: Iterable[str]) -> int:
    """The number of calls with the same name as the call before: 3 in `[a, a, b, b, b]`."""
    loops, before = 0, None
    for name in calls:
        if name == before:
            loops += 1
        before = name
    return loops


def most_repeated(calls: Iterable[tuple[str, Any]]) -> tuple[str, int] | None:
    """The call made most often with the same arguments, adjacent or not: its name and count.

    Finds A-B-A-B, which `loop_count` does not. The order of arguments does not matter.
    """
    import msgspec

    counts: dict[tuple[str, bytes], int] = {}
    for name, arguments in calls:
        key = (name, msgspec.json.encode(arguments, order="deterministic"))
        counts[key] = counts.get(key, 0) + 1
    if not counts:
        return None
    (name, _), count = max(counts.items(), key=lambda entry: entry[1])
    return name, count
