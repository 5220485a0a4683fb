"""Recall, precision and F1 of the tools used, as sets."""

from __future__ import annotations

from collections.abc import Iterable


def tool_recall(expected: Iterable[str], used: Iterable[str]) -> float:
    """|E∩U| / |E|; nothing expected: 1.0."""
    wanted = frozenset(expected)  # a frozenset is not copied
    if not wanted:
        return 1.0
    return len(wanted & frozenset(used)) / len(wanted)


def tool_precision(expected: Iterable[str], used: Iterable[str]) -> float:
    """|E∩U| / |U|; both empty: 1.0; only U empty: 0.0."""
    wanted, called = frozenset(expected), frozenset(used)
    if not called:
        return 0.0 if wanted else 1.0
    return len(wanted & called) / len(called)


def tool_f1(expected: Iterable[str], used: Iterable[str]) -> float:
    """Harmonic mean of precision and recall; both 0: 0.0; both sets empty: 1.0."""
    wanted, called = frozenset(expected), frozenset(used)
    precision, recall = tool_precision(wanted, called), tool_recall(wanted, called)
    if precision + recall == 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)
