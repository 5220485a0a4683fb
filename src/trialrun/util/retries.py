"""Retries after infrastructure faults: which HTTP statuses are retried, and after what pause."""

from __future__ import annotations

from math import isfinite

# HTTP statuses after which a retry may help (529: overloaded, from some model providers).
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 529})

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
LONGEST_RETRY_AFTER = 120.0
"""The longest Retry-After, in seconds, that is obeyed; a server that asks for more is given up."""


def pause(tries: int, retry_after: float | None) -> float | None:
    """Seconds to wait before the next try; None: the server asks for too long a wait, give up."""
    if retry_after is not None:
        return retry_after if retry_after <= LONGEST_RETRY_AFTER else None
    import random  # a worker never retries, and imports this module

    longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**tries)
    return random.uniform(longest / 2, longest)  # jitter: not all callers return at once


def seconds(value: str | None) -> float | None:
    """The seconds that a Retry-After header asks for; it gives seconds or a date."""
    if not value:
        return None
    try:
        number = float(value)
    except ValueError:
        pass
    else:
        return max(0.0, number) if isfinite(number) else None
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
