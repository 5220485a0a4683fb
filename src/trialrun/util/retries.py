"""Asking again after a fault of the infrastructure: after what, when, and when not."""

from __future__ import annotations

import random
from math import isfinite

# HTTP statuses, and those that model providers' clients raise, after which asking again may help.
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 529})

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
LONGEST_RETRY_AFTER = 120.0
"""Seconds that somebody may ask us to wait; one who asks for more is answered by giving up."""


def pause(tries: int, retry_after: float | None) -> float | None:
    """Seconds before the next try, after so many before; None where it is asked for too late."""
    if retry_after is not None:
        return retry_after if retry_after <= LONGEST_RETRY_AFTER else None
    longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**tries)
    return random.uniform(longest / 2, longest)  # apart, so that all do not come back at once


def seconds(value: str | None) -> float | None:
    """The meaning of a Retry-After header: seconds, or a date."""
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
