"""A request to a judge: a rubric, a question, an answer, and context for grading it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from trialrun.model.case import Rubric
from trialrun.model.results import CheckResult, Verdict

CONVERSATION = "conversation"
"""The name of the context piece with the turns before the answer, which are graded too."""


class Material(Struct, frozen=True):
    """A named piece of context."""

    name: str
    text: str


class JudgeRequest(Struct, frozen=True, kw_only=True):
    """One answer and one rubric: the argument of a judge that is a function."""

    rubric: Rubric
    question: str
    answer: str
    context: Sequence[Material] = ()


class Inquiry(Struct, frozen=True):
    """The requests of a check, and the function that turns the verdicts into its result."""

    requests: Sequence[JudgeRequest]
    conclude: Callable[[Sequence[Verdict]], CheckResult]
