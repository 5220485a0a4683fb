"""The step at which a limit was exceeded: where a reader of a failure looks first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from trialrun.model.trace import Step


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
