"""Compares an actual value with a wanted one: literal values, and matchers inside them."""

from __future__ import annotations

import math
from typing import Any

from trialrun.measures import patterns

MATCHERS = ("any", "regex", "one_of", "approx", "absent")

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()
"""The value of an argument that was not given, which differs from null."""


def is_matcher(value: Any) -> bool:
    """True for `{any: true}`, `{regex: …}`, `{one_of: …}`, `{approx: …}` and `{absent: true}`."""
    if not isinstance(value, dict) or not value:
        return False
    return (
        set(value) <= {"approx", "within"}
        if "approx" in value
        else (len(value) == 1 and next(iter(value)) in MATCHERS)
    )


def fits(actual: Any, wanted: Any, exact: bool = False) -> bool | None:
    """Whether the actual value matches the wanted one; None if a pattern hit its time limit.

    In a mapping every wanted key must match; others are allowed unless `exact`. A list matches
    item by item.
    """
    if is_matcher(wanted):
        return _fits_matcher(actual, wanted)
    if isinstance(wanted, dict):
        if not isinstance(actual, dict) or (exact and not set(actual) <= set(wanted)):
            return False
        return _all(fits(actual.get(key, MISSING), value, exact) for key, value in wanted.items())
    if isinstance(wanted, list):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(wanted):
            return False
        return _all(fits(item, value, exact) for item, value in zip(actual, wanted, strict=True))
    return equal(actual, wanted)


def fits_all(actual: dict[str, Any], wanted: dict[str, Any], exact: bool = False) -> bool | None:
    """Like `fits`, for the arguments of a call; an argument may have a matcher's name (`regex`)."""
    if exact and not set(actual) <= set(wanted):
        return False
    return _all(fits(actual.get(key, MISSING), value, exact) for key, value in wanted.items())


def _all(answers: Any) -> bool | None:
    unknown = False
    for answer in answers:
        if answer is False:
            return False
        unknown |= answer is None
    return None if unknown else True


def _fits_matcher(actual: Any, matcher: dict[str, Any]) -> bool | None:
    if "absent" in matcher:
        return (actual is MISSING) is bool(matcher["absent"])
    if actual is MISSING:
        return False
    if "any" in matcher:
        return bool(matcher["any"])
    if "one_of" in matcher:
        return any(equal(actual, choice) for choice in matcher["one_of"])
    if "regex" in matcher:
        if not isinstance(actual, str):
            return False
        return patterns.search(matcher["regex"], actual)
    return _near(actual, matcher["approx"], matcher.get("within"))


def _near(actual: Any, wanted: float, within: float | None) -> bool:
    if isinstance(actual, bool) or not isinstance(actual, (int, float)):
        return False
    if within is None:
        return math.isclose(actual, wanted, rel_tol=1e-6, abs_tol=1e-12)
    return abs(actual - wanted) <= within


def equal(actual: Any, wanted: Any) -> bool:
    """Equality as in JSON: 1 equals 1.0, but true does not equal 1."""
    if isinstance(actual, bool) or isinstance(wanted, bool):
        return actual is wanted
    if isinstance(wanted, dict) and isinstance(actual, dict):
        return actual.keys() == wanted.keys() and all(
            equal(actual[key], wanted[key]) for key in wanted
        )
    if isinstance(wanted, list) and isinstance(actual, (list, tuple)):
        return len(actual) == len(wanted) and all(map(equal, actual, wanted))
    return bool(actual == wanted)
