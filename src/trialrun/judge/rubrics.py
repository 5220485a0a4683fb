"""What a judge is asked: a rubric, a question, an answer, and what to hold the answer against."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trialrun.model.case import Rubric

LOWEST, HIGHEST = 1, 5

CONVERSATION = "conversation"
"""The name of the piece of context with the turns before the answer: they are graded with it."""


class Material(Struct, frozen=True):
    """A piece of context, and what it is."""

    name: str
    text: str


class JudgeRequest(Struct, frozen=True, kw_only=True):
    """One answer and one rubric. A judge that is a function is given this."""

    rubric: Rubric
    question: str
    answer: str
    context: Sequence[Material] = ()


def minimum_score(threshold: float) -> int:
    """The least score of 1 to 5 that passes a rubric of this threshold in [0, 1].

    Halves round up (0.5 is 3, 0.7 is 4), and no threshold asks for less than 1.
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold: expected a number from 0 to 1, found {threshold!r}")
    return max(LOWEST, int(threshold * HIGHEST + 0.5))
