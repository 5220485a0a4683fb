"""Question and answer of an attempt, as reports show them: turn by turn in a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from trialrun.model.results import EvaluationResult
    from trialrun.model.trace import Trace

LONGEST_SHOWN = 1000
"""Characters of the question and of the answer that a result keeps."""

_LONGEST_CONVERSATION = 20_000
_SHORTEST_IN_TURN = 200
_MOST_TURNS = 6
_WRONG = ("fail", "unknown")


class Exchange(Struct, frozen=True, omit_defaults=True):
    """The question and the answer of one turn, shortened; None: there was no answer."""

    question: str
    answer: str | None = None


def text_to_show(value: Any, longest: int = LONGEST_SHOWN) -> str | None:
    """A question or an answer for reports, cut between words; one that is not text, as JSON.

    Half of a key would not be known for one when secrets are masked, so no word is cut in two
    unless it is longer than any key.
    """
    if value is None:
        return None
    text = value if isinstance(value, str) else _as_json(value)
    if len(text) <= longest:
        return text
    kept = text[:longest]
    whole, *_ = kept.rsplit(None, 1)
    return (whole if len(whole) > longest // 2 else kept) + " …"


def _as_json(value: Any) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=shown_object).decode()
    except (TypeError, ValueError, RecursionError):
        return shown_object(value)


def shown_object(value: Any) -> str:
    """The `repr` of a value, whatever its type does."""
    try:
        return repr(value)
    except Exception:  # of a plug-in's own type
        return f"something of the type {type(value).__name__}"


def exchanges_in(trace: Trace) -> tuple[Exchange, ...]:
    """Each turn of the trace. The more turns, the shorter the texts: results stay small."""
    turns = trace.turns()
    longest = max(_SHORTEST_IN_TURN, min(LONGEST_SHOWN, _LONGEST_CONVERSATION // len(turns)))
    return tuple(
        Exchange(text_to_show(turn.input, longest) or "", text_to_show(turn.answer_text, longest))
        for turn in turns
    )


def add_turns(result: EvaluationResult, trace: Trace) -> None:
    """Add the turns of a conversation; question and answer become those of its last turn."""
    result.turns = exchanges_in(trace)
    last = result.turns[-1]
    result.question, result.answer = last.question, last.answer


def exchange_lines(result: EvaluationResult) -> Iterator[str]:
    """`question: …` and `answer: …`; in a conversation those of each turn, with its number.

    Of a long conversation, the turns that checks did not pass in, and the last ones.
    """
    if not result.turns:
        if result.question is not None:
            yield f"question: {result.question}"
            yield "no answer" if result.answer is None else f"answer: {result.answer}"
        return
    chosen = _chosen(result)
    for number in chosen:
        turn = result.turns[number - 1]
        yield f"turn {number} question: {turn.question}"
        answer = "no answer" if turn.answer is None else f"answer: {turn.answer}"
        yield f"turn {number} {answer}"
    left = len(result.turns) - len(chosen)
    if left:
        yield f"… and {left} more turn{'' if left == 1 else 's'}"


def _chosen(result: EvaluationResult) -> list[int]:
    """The numbers of the turns to show, in order."""
    total = len(result.turns)
    wrong = [
        check.turn
        for _, check in result.checks()
        if check.turn is not None and check.turn <= total and check.status.value in _WRONG
    ]
    wanted = dict.fromkeys([*sorted(wrong), *range(total, 0, -1)])
    return sorted(list(wanted)[:_MOST_TURNS])
