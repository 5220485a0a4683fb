"""Checks of single values in the data of a run: what a constructor accepts and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any

from msgspec import Meta

from trialrun.errors import TraceError
from trialrun.util.plain import as_number, convert, not_finite

# Larger counts are corrupt data, and would overflow the integers of a database.
LARGEST_COUNT = 10**15
LARGEST_AMOUNT = 1e15

Count = Annotated[int, Meta(ge=0, le=LARGEST_COUNT)]
Amount = Annotated[float, Meta(ge=0, le=LARGEST_AMOUNT)]


def refuse(owner: str, field: str, wanted: str, found: object) -> None:
    """Raise an error that names the field, what it accepts and what was given."""
    shown = repr(found)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    raise TraceError(f"{owner}.{field}: expected {wanted}, found {shown}")


def as_text(owner: str, field: str, value: object) -> str | None:
    """The text, of a subclass of str too, or None; anything else is refused."""
    if value is None or type(value) is str:
        return value
    if not isinstance(value, str):
        refuse(owner, field, "text", value)
    return str.__str__(value)


def as_count(owner: str, field: str, value: object) -> int:
    """The whole number, 0 or more; anything else is refused."""
    found = value if type(value) is int else as_number(value)
    if type(found) is not int or not 0 <= found <= LARGEST_COUNT:
        refuse(owner, field, "a whole number, 0 or more", value)
    assert type(found) is int
    return found


def as_amount(owner: str, field: str, value: object) -> float | None:
    """The finite number, 0 or more, or None; anything else is refused."""
    if value is None:
        return None
    found = as_number(value)
    if found is None or not 0 <= found <= LARGEST_AMOUNT:
        refuse(owner, field, "a finite number, 0 or more", value)
    return found


def require_mapping(owner: str, field: str, value: object) -> None:
    """Refuse anything but a dict or None."""
    if value is not None and not isinstance(value, dict):
        refuse(owner, field, "a dict", value)


def as_enum(owner: str, field: str, value: object, kind: type[Enum]) -> Enum:
    """The enum member for a member or its value; anything else is refused."""
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(member.value for member in kind)
        refuse(owner, field, f"one of {choices}", value)
        raise AssertionError("unreachable") from None


def as_moment(owner: str, field: str, value: object) -> datetime | None:
    """The datetime, with UTC if it has no time zone: mixed ones could not be compared."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        refuse(owner, field, "a datetime", value)
    assert isinstance(value, datetime)
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def as_answer(owner: str, field: str, value: Any) -> Any:
    """The answer as plain values: any JSON value; anything else is refused, with its place."""
    if isinstance(value, str):
        return str.__str__(value)
    try:
        plain = convert(value)[0]
        place = not_finite(plain)
    except TypeError as error:
        raise TraceError(f"{owner}.{field}: expected a JSON value, found {error}") from None
    except RecursionError:
        raise TraceError(f"{owner}.{field}: nested too deeply") from None
    if place is not None:
        refuse(owner, f"{field}{place}", "a finite number", value)
    return plain
