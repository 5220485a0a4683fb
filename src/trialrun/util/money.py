"""Amounts of dollars: compared with a small tolerance, and formatted for people."""

from __future__ import annotations

# Sums of prices are not exact: three calls at 0.1 add up to 0.30000000000000004, which is 0.3.
_TOLERANCE = 1e-9


def within(amount: float, limit: float) -> bool:
    """Whether the amount is at most the limit, rounding errors of sums aside."""
    return amount <= limit + _TOLERANCE * max(1e-6, abs(limit))


def dollars(amount: float) -> str:
    """`$0.02`, `$0.0113`, `$12.50`."""
    if amount >= 1 or amount == 0:
        return f"${amount:,.2f}"
    text = f"{amount:.6f}".rstrip("0")
    return f"${text}" if len(text) > 3 else f"${amount:.2g}"
