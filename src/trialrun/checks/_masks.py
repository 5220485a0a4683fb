"""What can still be said about a text in which secrets were masked.

A run is redacted before it is stored, and judged again later. A mask may hide just what a check
looks for, so whatever it could decide is unknown; what it cannot change stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from trialrun.measures.arguments import MISSING, equal, fits, is_matcher
from trialrun.measures.patterns import Pattern, ready
from trialrun.redaction import MASK, is_masked

# Stands for a mask where texts are compared, or the term `act` would be found in `[redacted]`. It
# is a letter, so that a name right beside it does not seem to end there, and one that none writes.
GAP = "\ua66e"


def visible(text: str) -> str:
    """The text with its masks made into something that no term is part of."""
    return text.replace(MASK, GAP) if MASK in text else text


def occurs(term: str, text: str) -> bool:
    """Whether the term stands in the text, and not merely in the mask of something else.

    A term that itself holds the mask's text is looked for like any other.
    """
    if term not in text:
        return False
    return MASK not in text or MASK in term or term in visible(text)


def any_masked(names: Iterable[str]) -> bool:
    """Whether one of the names was redacted, and could be any."""
    return MASK in "\n".join(
        names
    )  # one search: a generator over few names takes three times as long


def could_read(text: str, wanted: str) -> bool:
    """Whether the text could be the wanted one if each mask stood for the right thing."""
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
    """Whether the values could be equal if each mask stood for the right thing."""
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


# Anchors, looks around, and what never gives back: whether they match depends on what is beside.
_DEPENDS_ON_PLACE = re.compile(r"(?<!\[)\^|\$|\\[AbBZ]|\(\?[=!<(>]|[+*?}]\+")


def found_beside_masks(pattern: Pattern, text: str) -> bool | None:
    """True where the pattern is found between the masks, whatever they hide; otherwise None.

    It is never False: a mask could hide a match. Nor is it True for a pattern that looks at its
    surroundings (`^`, `$`, `\\b`, `(?!…)`), which may be the mask; `[^…]` does not.
    """
    if _DEPENDS_ON_PLACE.search(pattern.text):
        return None
    return True if any(pattern.search(piece) for piece in text.split(MASK)) else None


def fits_arguments(actual: dict[str, Any], wanted: dict[str, Any], exact: bool) -> bool | None:
    """`fits_all` where parts of the arguments may be masked; None where these could decide."""
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
        return found_beside_masks(ready(matcher["regex"]), actual)
    return fits(actual, matcher)  # whether it is there, or a number: no mask changes that
