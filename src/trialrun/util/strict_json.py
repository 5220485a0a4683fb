"""Strict JSON: duplicate keys, NaN and Infinity, which Python's decoder accepts, are errors."""

from __future__ import annotations

import json
from typing import Any

import msgspec


class NotStrict(ValueError):
    """Text that lenient parsers accept as JSON, with different results."""


def decode(text: str | bytes) -> Any:
    """The decoded value. ValueError says what is wrong; RecursionError: nested too deeply."""
    return json.loads(text, object_pairs_hook=without_duplicates, parse_constant=_refuse)


def decode_quickly(text: str) -> Any:
    """The value, by msgspec's decoder, which is quick and keeps the last of duplicate keys.

    NotStrict if a key is given twice; another ValueError or a RecursionError of the decoder.
    """
    value = msgspec.json.decode(text)
    if isinstance(value, (dict, list)):
        refuse_duplicates(text, value)
    return value


def refuse_duplicates(text: str, value: Any) -> None:
    """NotStrict if an object in the JSON text has a key twice; `value` is what was decoded.

    A lost key takes its quotation marks along: if the value, written again, has as many of them as
    the text, nothing was lost. That is several times quicker than decoding with a hook. Only an
    escaped mark (`\\u0022`) could make up for a lost one; then, and where the numbers differ, the
    text is decoded once more.
    """
    try:
        quotes = msgspec.json.encode(value).count(b'"')
    except (ValueError, OverflowError, TypeError):  # a lone surrogate, a huge number
        quotes = -1
    if quotes != text.count('"') or ("\\" in text and "\\u0022" in text):
        json.loads(text, object_pairs_hook=without_duplicates, parse_int=str, parse_float=str)


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
