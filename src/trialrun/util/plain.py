"""Plain values from what programs hold: numpy's numbers, fractions, subclasses of str.

JSON has texts, numbers, lists and objects; `convert` turns what is meant as one of them into it,
and says where something else was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import Any

import msgspec

_WITH_NUMBERS = msgspec.json.Encoder(decimal_format="number")


def as_number(value: object) -> int | float | None:
    """The plain number that a value is, `numbers.Real` or Decimal; None if it is none.

    True and False do not count as numbers: one in place of a number is a mistake.
    """
    kind = type(value)
    if kind is int or kind is float:
        return value  # type: ignore[return-value]
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, (Real, Decimal)):
            return float(value)
    except (ValueError, OverflowError, ArithmeticError):
        pass
    return None


def as_plain(value: Any) -> Any:
    """The plain value for one that msgspec does not know; TypeError if there is none.

    For `enc_hook`: numpy's scalars, fractions, subclasses of str, int and float.
    """
    if isinstance(value, str):
        return str.__str__(value)
    number = as_number(value)
    if number is not None:
        return number
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        item = value.item()  # numpy's booleans, and arrays of no dimension
        if type(item) is not type(value):
            return item
    raise TypeError(f"it holds {kind_of(value)}")


def convert(value: Any) -> tuple[Any, int]:
    """The value as plain values, and its size as JSON in bytes.

    TypeError says what cannot be written as JSON, and where.
    """
    try:
        made = msgspec.to_builtins(
            value, str_keys=True, enc_hook=as_plain, builtin_types=(Decimal,)
        )
        size = len(msgspec.json.encode(made))
        # A Decimal is written as text by default, 2 bytes longer than as a number.
        if len(_WITH_NUMBERS.encode(made)) != size:
            made = _without_decimals(made)
    except UnicodeEncodeError:
        return made, 0  # a lone surrogate: the reader of the trace replaces it
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise TypeError(located(value, error)) from None
    return made, size


def compact(value: Any) -> str:
    """Plain values as JSON in one line: no spaces, keys in the given order, no escapes."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # a lone surrogate
        import json

        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def not_finite(value: Any, place: str = "") -> str | None:
    """The place of the first NaN or infinite number in plain values; None if there is none."""
    if isinstance(value, float):
        return None if isfinite(value) else place
    found = (not_finite(item, place + name) for name, item in _parts(value))
    return next((one for one in found if one is not None), None)


def _without_decimals(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_decimals(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_decimals(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value


def located(value: Any, error: Exception) -> str:
    """The error with the place of the innermost value that has it: "steps[0].tool_result: …"."""
    place = ""
    for _ in range(100):  # a cycle has no innermost value
        for name, item in _parts(value):
            try:
                msgspec.to_builtins(item, str_keys=True, enc_hook=as_plain)
            except Exception as inner:
                place, value, error = place + name, item, inner
                break
        else:
            break
    if isinstance(error, RecursionError):
        return "it is nested too deeply, or holds itself"
    return f"{place.lstrip('.')}: {error}" if place else str(error)


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f".{str(key)[:60]}", item) for key, item in value.items()]
    if isinstance(value, msgspec.Struct):
        return [(f".{name}", getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, (list, tuple)):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    return ()


def kind_of(value: Any) -> str:
    """The type of a value with its article: `a CompletionUsage`."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
