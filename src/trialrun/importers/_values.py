"""Reads single values of recordings: arguments, times, amounts, texts, names."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from trialrun.model.values import LARGEST_AMOUNT

_MOST_DIGITS = 20  # of 64 bits


def as_arguments(value: Any) -> dict[str, Any] | None:
    """The arguments of a call: JSON text is decoded, what is not an object becomes `input`."""
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return {}
        if text.startswith(("{", "[")):
            with suppress(msgspec.MsgspecError, ValueError, RecursionError):
                value = msgspec.json.decode(text)
    if value is None or isinstance(value, dict):
        return value
    return {"input": value}


def is_whole_number(text: str) -> bool:
    """Whether `int` reads it: not "²", which is a digit too, and not thousands of digits."""
    return len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit()


def moment(value: Any) -> datetime | None:
    """A time in ISO form, or in seconds, milliseconds, microseconds or nanoseconds since 1970."""
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, str):
        if is_whole_number(value):
            return moment(int(value))
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        return None
    # 2026 is 1.8e9 in seconds, 1.8e12 in milliseconds, 1.8e15 in microseconds, 1.8e18 beyond.
    for limit, unit in ((1e11, 1), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9)):
        if value < limit:
            return datetime.fromtimestamp(value / unit, UTC)
    return None


def amount(value: Any) -> float | None:
    """A number that is not negative; None for anything else."""
    if value is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= LARGEST_AMOUNT else None


def text_of(content: Any) -> str:
    """The text of a message: a text, or the text parts of a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return ""
    found = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "\n".join(text for text in found if isinstance(text, str))


def name_of(value: Any) -> str | None:
    """A text that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; none if it is not a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
