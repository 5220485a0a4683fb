"""Answers questions about a regular expression from its form, before any text is searched.

Two questions: how much work can a search be at most, and is there a text in which nothing is found?
Both are answered from the parse tree of Python's own `re`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any


def parsed(pattern: str) -> Any:
    """The parse tree of a pattern, or None where Python does not offer one."""
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _parser.parse(pattern)


def cost_bound(pattern: str) -> tuple[float, int]:
    """An upper bound of the work, as (choices, n): at most choices · length^(n + 1) steps.

    Every alternative multiplies the choices, and so does every length of a bounded repeat; each
    unbounded repeat of a single character adds a factor of the text's length. Repeats of more than
    one character, look-arounds and back-references have no such bound: infinite.
    """
    tree = parsed(pattern)
    return (float("inf"), 0) if tree is None else _bound(tree)


_SINGLE = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}


def _bound(items: Any) -> tuple[float, int]:
    choices, unbounded = 1.0, 0
    for operation, argument in items:
        name = str(operation)
        if name in _SINGLE or name == "AT":
            more, repeats = 1.0, 0
        elif name == "SUBPATTERN":
            more, repeats = _bound(argument[-1])
        elif name == "BRANCH":
            bounds = [_bound(branch) for branch in argument[1]]
            more = sum(bound[0] for bound in bounds)
            repeats = max(bound[1] for bound in bounds)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = argument
            if len(body) != 1 or str(body[0][0]) not in _SINGLE:
                return float("inf"), 0
            endless = str(most) == "MAXREPEAT"
            # The required characters are scanned at every start position, whatever follows.
            more, repeats = (least + 1.0, 1) if endless else (most + 1.0, 0)
        else:
            return float("inf"), 0
        choices, unbounded = choices * more, unbounded + repeats
    return choices * (len(items) + 1), unbounded


def finds_in_every_text(pattern: str) -> bool:
    """Whether the pattern is certain to find something in every text: `x*`, `(30 days)?`, `$`.

    True only if that can be shown: from the start or from the end of a text, which every text has,
    there is a way through the pattern that depends on no character. `^$` has none, because the
    start is not always the end; `^(?!.*no)` has none, `(?!.*no)` has one (at the end).
    """
    tree = parsed(pattern)
    if tree is None:
        return False
    dot_matches_all = bool(tree.state.flags & re.DOTALL)
    return any(_ends(tree, place, dot_matches_all) for place in (_START, _END))


_START, _END = "start", "end"
_NOWHERE: frozenset[str] = frozenset()

_STARTS = {"AT_BEGINNING", "AT_BEGINNING_STRING"}
_ENDS = {"AT_END", "AT_END_STRING"}


def _ends(items: Any, place: str, dot: bool) -> frozenset[str]:
    """Where a match that begins at this place can end, whatever the text is."""
    places = frozenset({place})
    for operation, argument in items:
        step = _STEPS.get(str(operation))
        if step is None:
            return _NOWHERE
        places = frozenset().union(*(step(argument, one, dot) for one in places))
    return places


def _at(where: Any, place: str, dot: bool) -> frozenset[str]:
    holds = str(where) in (_STARTS if place == _START else _ENDS)
    return frozenset({place}) if holds else _NOWHERE


def _repeat(argument: Any, place: str, dot: bool) -> frozenset[str]:
    least, most, body = argument
    if least:
        return _ends(body, place, dot)
    if str(most) == "MAXREPEAT" and _takes_anything(body, dot):
        return frozenset({place, _END})
    return frozenset({place})


def _possessive(argument: Any, place: str, dot: bool) -> frozenset[str]:
    """It takes all it can and gives nothing back: only what takes nothing else is certain."""
    least, most, body = argument
    endless = not least and str(most) == "MAXREPEAT" and _takes_anything(body, dot)
    return frozenset({_END}) if endless else _NOWHERE


def _group(argument: Any, place: str, dot: bool) -> frozenset[str]:
    _, added, removed, body = argument
    return _ends(body, place, bool(added & re.DOTALL) or (dot and not removed & re.DOTALL))


def _branch(argument: Any, place: str, dot: bool) -> frozenset[str]:
    return frozenset().union(*(_ends(branch, place, dot) for branch in argument[1]))


def _look(argument: Any, place: str, dot: bool) -> frozenset[str]:
    return frozenset({place}) if _ends(argument[1], place, dot) else _NOWHERE


def _look_not(argument: Any, place: str, dot: bool) -> frozenset[str]:
    """Nothing follows the end and nothing precedes the start: what needs a character is absent."""
    direction, body = argument
    empty_side = _END if direction > 0 else _START
    holds = place == empty_side and body.getwidth()[0] > 0
    return frozenset({place}) if holds else _NOWHERE


_STEPS: dict[str, Callable[[Any, str, bool], frozenset[str]]] = {
    "AT": _at,
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "POSSESSIVE_REPEAT": _possessive,
    "SUBPATTERN": _group,
    "BRANCH": _branch,
    "ASSERT": _look,
    "ASSERT_NOT": _look_not,
}

_COMPLEMENTS = (
    {"CATEGORY_SPACE", "CATEGORY_NOT_SPACE"},
    {"CATEGORY_DIGIT", "CATEGORY_NOT_DIGIT"},
    {"CATEGORY_WORD", "CATEGORY_NOT_WORD"},
)


def _takes_anything(body: Any, dot: bool) -> bool:
    """Whether this is any one character, line breaks included: `[\\s\\S]`, `(.|\\n)`, `(?s:.)`."""
    if len(body) != 1:
        return False
    name, argument = str(body[0][0]), body[0][1]
    if name == "ANY":
        return dot
    if name == "SUBPATTERN":
        inner = bool(argument[1] & re.DOTALL) or (dot and not argument[2] & re.DOTALL)
        return _takes_anything(argument[-1], inner)
    if name == "IN":
        categories = {str(value) for kind, value in argument if str(kind) == "CATEGORY"}
        negated = any(str(kind) == "NEGATE" for kind, _ in argument)
        return not negated and any(pair <= categories for pair in _COMPLEMENTS)
    if name == "BRANCH":
        branches = argument[1]
        line_break = any(
            [(str(op), arg) for op, arg in one] == [("LITERAL", 10)] for one in branches
        )
        return any(_takes_anything(one, dot or line_break) for one in branches)
    return False
