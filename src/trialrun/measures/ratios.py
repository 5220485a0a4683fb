"""Compares shares and similarities with a minimum, allowing for rounding."""

from __future__ import annotations

# 1 − 4/5 is 0.19999999999999996 in floating point, and must reach 0.2.
_TOLERANCE = 1e-9


def reaches(value: float, minimum: float) -> bool:
    """Whether the value is at least the minimum, rounding errors aside."""
    return value >= minimum - _TOLERANCE
