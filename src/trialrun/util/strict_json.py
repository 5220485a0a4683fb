"""Strict JSON: duplicate keys, NaN and Infinity, which Python's decoder accepts, are errors."""

from __future__ import annotations

import json
from typing import Any


class NotStrict(ValueError):
    """Text that lenient parsers accept as JSON, with different results."""


def decode(text: str | bytes) -> Any:
    """The decoded value. ValueError says what is wrong; RecursionError: nested too deeply."""
    return json.loads(text, object_pairs_hook=without_duplicates, parse_constant=_refuse)


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, for `object_pairs_hook`. NotStrict if a key is given twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise NotStrict(f"the key `{twice[:100]}` is given twice")
    return found


def _refuse(name: str) -> Any:
    raise NotStrict(f"{name} is not JSON")
