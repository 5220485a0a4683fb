"""Parse a judge's reply: only an integer from 1 to 5, given once and in its place, counts.

A score in prose, in quotes, with a decimal point or in doubt is an error of the judge: the agent
whose answer is judged may have written it.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from trialrun.measures.scores import HIGHEST, LOWEST
from trialrun.util import strict_json
from trialrun.util.texts import excerpt

LONGEST_RATIONALE = 4000


class Usage(Struct, frozen=True):
    """What a call used: None is unknown, for example if no reply came."""

    tokens: int | None = None
    cost_usd: float | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            None if self.tokens is None or other.tokens is None else self.tokens + other.tokens,
            None
            if self.cost_usd is None or other.cost_usd is None
            else self.cost_usd + other.cost_usd,
        )


NO_USAGE = Usage(0, 0.0)


class JudgeError(Exception):
    """A judge gave no verdict. `transient`: a retry may help, after `retry_after` seconds."""

    def __init__(
        self,
        message: str,
        *,
        transient: bool = False,
        retry_after: float | None = None,
        used: Usage = NO_USAGE,
    ) -> None:
        super().__init__(message)
        self.transient = transient
        self.retry_after = retry_after
        self.used = used


def read_arguments(arguments: Any) -> tuple[int, str]:
    """Score and rationale of a verdict, given as JSON text or already parsed by a client."""
    if isinstance(arguments, str):
        try:
            arguments = strict_json.decode(_without_fence(arguments))
        except (ValueError, RecursionError) as error:
            raise _unusable(f"the verdict is not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise _unusable(f"the verdict is {_shown(arguments)}, expected an object with `score`")
    if "score" not in arguments:
        raise _unusable("the verdict has no score")
    rationale = arguments.get("rationale", "")
    if not isinstance(rationale, str):
        rationale = _shown(rationale)
    # A lone surrogate is valid in JSON but not in a file: the verdict must not be lost for it.
    whole = rationale[:LONGEST_RATIONALE].encode("utf-8", "replace").decode()
    return read_score(arguments["score"]), whole


def without_thoughts(text: str) -> str:
    """The text without the thought of a reasoning model, `<think>…</think>`, at its start.

    Only there and only once: anything else beside a verdict makes the reply invalid.
    """
    return _THOUGHT.sub("", text, count=1)


_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)  # <think>It is short.</think>


def _without_fence(text: str) -> str:
    """The text without the one code fence around all of it, which local models write."""
    fenced = _FENCED.fullmatch(text.strip())
    return fenced[1] if fenced and "```" not in fenced[1] else text


_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL)  # ```json\n{…}\n```


def read_score(score: Any) -> int:
    """The score if it is valid. Raises JudgeError if not."""
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
