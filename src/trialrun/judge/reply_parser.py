"""Reading a judge's reply. Only a whole number from 1 to 5, given once and in its place, counts.

Nothing is rescued: a score in prose, in quotes, with a point or in doubt is an error of the judge.
The agent whose answer is judged may have written it.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from trialrun.judge.rubrics import HIGHEST, LOWEST
from trialrun.util import strict_json
from trialrun.util.texts import excerpt

LONGEST_RATIONALE = 4000


class Used(Struct, frozen=True):
    """What a call took: None is not known, as after a reply that never came."""

    tokens: int | None = None
    cost_usd: float | None = None

    def __add__(self, other: Used) -> Used:
        return Used(
            None if self.tokens is None or other.tokens is None else self.tokens + other.tokens,
            None
            if self.cost_usd is None or other.cost_usd is None
            else self.cost_usd + other.cost_usd,
        )


NOTHING = Used(0, 0.0)


class JudgeError(Exception):
    """A judge gave no verdict. `transient`: asking again may help, after `retry_after` seconds."""

    def __init__(
        self,
        message: str,
        *,
        transient: bool = False,
        retry_after: float | None = None,
        used: Used = NOTHING,
    ) -> None:
        super().__init__(message)
        self.transient = transient
        self.retry_after = retry_after
        self.used = used


def read_arguments(arguments: Any) -> tuple[int, str]:
    """Score and rationale of a verdict: its JSON text, or what a client has made of that."""
    if isinstance(arguments, str):
        try:
            arguments = strict_json.decode(arguments)
        except (ValueError, RecursionError) as error:
            raise _unusable(f"the verdict is not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise _unusable(f"the verdict is {_shown(arguments)}, expected an object with `score`")
    if "score" not in arguments:
        raise _unusable("the verdict has no score")
    rationale = arguments.get("rationale", "")
    if not isinstance(rationale, str):
        rationale = _shown(rationale)
    # Half a character, which JSON can hold and no file: it must not cost the verdict.
    whole = rationale[:LONGEST_RATIONALE].encode("utf-8", "replace").decode()
    return read_score(arguments["score"]), whole


def without_thoughts(text: str) -> str:
    """The text after what a reasoning model thought aloud first, between `<think>` and `</think>`.

    Only there, and only once: whatever else stands beside a verdict is for the reader to refuse.
    """
    return _THOUGHT.sub("", text, count=1)


_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


def read_score(score: Any) -> int:
    """The score, if it is one."""
    if type(score) is not int or not LOWEST <= score <= HIGHEST:
        expected = f"a whole number from {LOWEST} to {HIGHEST}"
        raise _unusable(f"the score is {_shown(score)}, expected {expected}")
    return score


def _unusable(message: str) -> JudgeError:
    return JudgeError(message, transient=True)


def _shown(value: Any) -> str:
    try:
        return excerpt(repr(value), 80)
    except Exception:
        return f"something of the type {type(value).__name__}"
