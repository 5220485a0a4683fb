"""The lowest score that passes a rubric."""

from __future__ import annotations

LOWEST, HIGHEST = 1, 5


def minimum_score(threshold: float) -> int:
    """The lowest score from 1 to 5 that passes a rubric with this threshold in [0, 1].

    Halves round up (0.5 is 3, 0.7 is 4), and the result is at least 1.
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold: expected a number from 0 to 1, found {threshold!r}")
    return max(LOWEST, int(threshold * HIGHEST + 0.5))
