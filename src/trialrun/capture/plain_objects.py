"""Objects of frameworks and of model APIs as plain values, by their shape.

No framework is imported: an object is asked for what its kind of object has (`model_dump` of
pydantic, the fields of a dataclass).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any

_DEEPEST = 30
_PLAIN = (str, int, float, bool, type(None), datetime)


def plain(value: Any, depth: int = 0) -> Any:
    """The value with its objects as plain values; what cannot be one stays as it is."""
    if isinstance(value, Enum):
        return plain(value.value, depth)
    if isinstance(value, _PLAIN) or depth > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    fields = fields_of(value)
    if fields is not None:
        return plain(fields, depth + 1)
    return str(value) if isinstance(value, (bytes, date)) else value


def fields_of(value: Any) -> dict[str, Any] | None:
    """The fields of an object of pydantic or of a dataclass; None if it is neither."""
    if isinstance(value, type):
        return None
    if callable(getattr(value, "model_dump", None)):
        return _dumped(value)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _dumped(value: Any) -> dict[str, Any] | None:
    """`model_dump` as JSON; as Python's values where something in it has no JSON."""
    for settings in ({"mode": "json", "warnings": False}, {"mode": "json"}, {}):
        try:
            found = value.model_dump(**settings)
        except Exception:  # it is the code of a framework
            continue
        if isinstance(found, dict):
            return found
    return None
