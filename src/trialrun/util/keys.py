"""A key for any plain value: equal for equal values, whatever the order of their keys."""

from __future__ import annotations

from typing import Any

import msgspec


def key_of(value: Any) -> bytes:
    """The value as bytes that can be compared and sorted.

    Some values have no JSON: half of a surrogate pair (`"\\ud800"`), odd keys, huge numbers.
    """
    try:
        return msgspec.json.encode(value, order="sorted", enc_hook=repr)
    except (TypeError, ValueError, OverflowError):
        return repr(_ordered(value)).encode("utf-8", "surrogatepass")


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((str(key), _ordered(item)) for key, item in value.items())
    return [_ordered(item) for item in value] if isinstance(value, (list, tuple)) else value
