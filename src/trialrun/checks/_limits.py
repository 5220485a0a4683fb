"""What checks with a limit say, and at which step it was exceeded: where a reader looks first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from trialrun.model.trace import Step
from trialrun.util.texts import counted


# Kept: most traces of a case have one of few numbers, and writing the text takes four times longer.
@lru_cache(maxsize=4096)
def at_most(found: int, noun: str, limit: int) -> str:
    """`2 tool calls, limit 5`."""
    return f"{counted(found, noun)}, limit {limit:,}"


@lru_cache(maxsize=4096)
def at_least(measure: str, found: float, minimum: float) -> str:
    """`tool_recall 1.00, at least 0.5`."""
    return f"{measure} {found:.2f}, at least {minimum:g}"


def beyond(steps: Sequence[Step], limit: int) -> dict[str, Any]:
    """The first step past the limit on their number, as data of a check; nothing if there is none.

    Only the first: with a limit of 5, all later ones are too many for the same reason.
    """
    return {"steps": [steps[limit].id]} if len(steps) > limit else {}


def exceeding(steps: Sequence[Step], amounts: Iterable[float], limit: float) -> dict[str, Any]:
    """The first step at which the sum of the amounts is above the limit, as data of a check."""
    total = 0.0
    for step, amount in zip(steps, amounts, strict=True):
        total += amount
        if total > limit:
            return {"steps": [step.id]}
    return {}
