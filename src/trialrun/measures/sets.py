"""Which of the expected tools were used, and which of the used ones were expected."""

from __future__ import annotations

from collections.abc import Iterable, Set


def _as_set(names: Iterable[str]) -> Set[str]:
    return names if isinstance(names, (set, frozenset)) else frozenset(names)


def tool_recall(expected: Iterable[str], used: Iterable[str]) -> float:
    """|E∩U| / |E|; nothing expected: 1.0."""
    wanted = _as_set(expected)
    if not wanted:
        return 1.0
    return len(wanted & _as_set(used)) / len(wanted)


def tool_precision(expected: Iterable[str], used: Iterable[str]) -> float:
    """|E∩U| / |U|; both empty: 1.0; nothing used though something was expected: 0.0."""
    wanted, called = _as_set(expected), _as_set(used)
    if not called:
        return 0.0 if wanted else 1.0
    return len(wanted & called) / len(called)


def tool_f1(expected: Iterable[str], used: Iterable[str]) -> float:
    """Harmonic mean of precision and recall; both 0: 0.0; both sets empty: 1.0."""
    wanted, called = _as_set(expected), _as_set(used)
    precision, recall = tool_precision(wanted, called), tool_recall(wanted, called)
    if precision + recall == 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)
