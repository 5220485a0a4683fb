"""JSON taken at its word: a key that stands there twice, or NaN, is a mistake and not a value."""

from __future__ import annotations

import json
from typing import Any


class NotStrict(ValueError):
    """A text that others would read as JSON, each in their own way."""


def decode(text: str | bytes) -> Any:
    """The value. ValueError says what is wrong; RecursionError where it is nested without end."""
    return json.loads(text, object_pairs_hook=only_once, parse_constant=_refuse)


def only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, for `object_pairs_hook`. NotStrict if a key is given twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise NotStrict(f"the key `{twice[:100]}` is given twice")
    return found


def _refuse(name: str) -> Any:
    raise NotStrict(f"{name} is no JSON")
