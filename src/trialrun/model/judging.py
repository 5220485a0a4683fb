"""What a judge is asked: a rubric, a question, an answer, and what to compare the answer with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from trialrun.model.case import Rubric
from trialrun.model.results import CheckResult, Verdict

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


class Inquiry(Struct, frozen=True):
    """What a check asks a judge, and what the verdicts amount to."""

    requests: Sequence[JudgeRequest]
    conclude: Callable[[Sequence[Verdict]], CheckResult]
