"""Judges texts in which secrets were masked.

A run is redacted before it is stored, and may be judged again later. A mask may hide exactly what a
check looks for: if it could change the result, the result is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from trialrun.measures.arguments import MISSING, equal, fits, is_matcher
from trialrun.measures.patterns import Pattern, compiled
from trialrun.redaction import MASK, is_masked

# Replaces a mask where texts are compared: otherwise the term `act` would be found in `[redacted]`.
# It is a letter, so that a name next to a mask does not seem to end there, and a very rare one.
GAP = "\ua66e"


def visible(text: str) -> str:
    """The text with each mask replaced by a character that no term contains."""
    return text.replace(MASK, GAP) if MASK in text else text


def occurs(term: str, text: str) -> bool:
    """Whether the term occurs in the text, other than inside a mask.

    A term that contains the mask's text is searched like any other.
    """
    if term not in text:
        return False
    return MASK not in text or MASK in term or term in visible(text)


def any_masked(names: Iterable[str]) -> bool:
    """Whether one of the names was redacted."""
    # One search in the joined names: a generator over few names takes three times as long.
    return MASK in "\n".join(names)


def could_read(text: str, wanted: str) -> bool:
    """Whether the text could be the wanted one, depending on what the masks hide."""
    first, *middle = text.split(MASK)
    if not middle:
        return text == wanted
    last = middle.pop()
    at, end = len(first), len(wanted) - len(last)
    if at > end or not (wanted.startswith(first) and wanted.endswith(last)):
        return False
    for piece in middle:
        at = wanted.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def could_equal(actual: Any, wanted: Any) -> bool:
    """Whether the values could be equal, depending on what the masks hide."""
    if not is_masked(actual):
        return equal(actual, wanted)
    if isinstance(actual, str):
        return isinstance(wanted, str) and could_read(actual, wanted)
    if isinstance(actual, dict):
        if not isinstance(wanted, dict) or len(actual) != len(wanted):
            return False
        named = [key for key in actual if not is_masked(key)]
        return all(key in wanted and could_equal(actual[key], wanted[key]) for key in named)
    return (
        isinstance(wanted, list)
        and len(actual) == len(wanted)
        and all(map(could_equal, actual, wanted))
    )


# Anchors (`^`, `\b`), look-arounds (`(?=`), possessive repeats (`a++`): whether they match depends
# on the neighbouring text.
_DEPENDS_ON_PLACE = re.compile(r"(?<!\[)\^|\$|\\[AbBZ]|\(\?[=!<(>]|[+*?}]\+")


def found_outside_masks(pattern: Pattern, text: str) -> bool | None:
    """True if the pattern is found between the masks, whatever they hide; otherwise None.

    Never False: a mask could hide a match. Never True for a pattern that depends on neighbouring
    text (`^`, `$`, `\\b`, `(?!…)`), because that may be a mask; `[^…]` does not depend on it.
    """
    if _DEPENDS_ON_PLACE.search(pattern.text):
        return None
    return True if any(pattern.search(piece) for piece in text.split(MASK)) else None


def fits_arguments(actual: dict[str, Any], wanted: dict[str, Any], exact: bool) -> bool | None:
    """Like `fits_all`, for arguments with masks; None if what they hide could decide."""
    unnamed = is_masked(list(actual))
    answers = [
        None if unnamed and key not in actual else _fits(actual.get(key, MISSING), value, exact)
        for key, value in wanted.items()
    ]
    extra = [key for key in actual if key not in wanted] if exact else []
    if False in answers or not all(map(is_masked, extra)):
        return False
    return None if None in answers or extra else True


def _fits(actual: Any, wanted: Any, exact: bool) -> bool | None:
    if not is_masked(actual):
        return fits(actual, wanted, exact)
    if is_matcher(wanted):
        return _fits_matcher(actual, wanted)
    if isinstance(wanted, dict):
        return fits_arguments(actual, wanted, exact) if isinstance(actual, dict) else False
    if isinstance(wanted, list):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(wanted):
            return False
        answers = [_fits(*pair, exact) for pair in zip(actual, wanted, strict=True)]
        return False if False in answers else None if None in answers else True
    return True if equal(actual, wanted) else None if could_equal(actual, wanted) else False


def _fits_matcher(actual: Any, matcher: dict[str, Any]) -> bool | None:
    if "one_of" in matcher:
        choices = matcher["one_of"]
        if any(equal(actual, choice) for choice in choices):
            return True
        return None if any(could_equal(actual, choice) for choice in choices) else False
    if "regex" in matcher and isinstance(actual, str):
        return found_outside_masks(compiled(matcher["regex"]), actual)
    return fits(actual, matcher)  # whether it is present, or a number: a mask cannot change that
