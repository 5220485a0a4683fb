"""A span as every envelope gives it, and the values of spans: ids, times, JSON inside strings."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.importers._values import is_whole_number, moment


class Event(Struct, gc=False):
    """An event of a span, or a log record that belongs to it."""

    name: str
    attributes: dict[str, Any]
    body: Any = None


class Span(Struct):
    """One span. Times are nanoseconds since 1970; attributes have plain values."""

    name: str
    span_id: str
    trace_id: str
    parent_id: str
    attributes: dict[str, Any]
    scope: str = ""
    kind: str = ""  # server, client, internal … in lower case
    start: int | None = None
    end: int | None = None
    failed: bool = False
    message: str = ""  # of the status
    events: list[Event] = []
    resource: dict[str, Any] = {}


def as_id(value: Any, digits: int) -> str:
    """An id of a trace (32 digits) or span (16): hexadecimal, with 0x, or base64."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not value:
        return ""
    if isinstance(value, int):
        return f"{value:0{digits}x}"
    if len(value) == digits:
        return value
    if value.startswith("0x"):
        return value[2:].rjust(digits, "0")
    # "l4R8sz3/E+Rkg2hZMPTiNg==": 16 bytes are 24 characters of base64, 8 bytes are 12.
    if len(value) == {32: 24, 16: 12}.get(digits) and value.endswith("="):
        try:
            return base64.b64decode(value, validate=True).hex()
        except (binascii.Error, ValueError):
            return value
    return value


_KINDS = ("", "internal", "server", "client", "producer", "consumer")


def as_kind(value: Any) -> str:
    """`SPAN_KIND_SERVER`, `SpanKind.SERVER`, `server` or 2: all are `server`."""
    if type(value) is int:
        return _KINDS[value] if 0 <= value < len(_KINDS) else ""
    if not isinstance(value, str):
        return ""
    if is_whole_number(value):
        return as_kind(int(value))
    return value.lower().removeprefix("span_kind_").removeprefix("spankind.")


def as_time(value: Any) -> int | None:
    """Nanoseconds since 1970 from a number of any unit, ISO time, or `[seconds, nanoseconds]`."""
    if isinstance(value, str) and len(value) == 19 and is_whole_number(value):
        return int(value)
    if type(value) is int and value >= 10**17:
        return value if value < 10**20 else None
    if isinstance(value, list):
        parts = value if len(value) == 2 and all(type(part) is int for part in value) else [0, 0]
        return parts[0] * 10**9 + parts[1] if 0 < parts[0] < 10**11 else None
    found = moment(value)
    if found is None:
        return None
    # `timestamp()` is a float, and too coarse for the order of spans.
    return int(found.timestamp()) * 10**9 + found.microsecond * 1000


def decoded(value: Any) -> Any:
    """The value of JSON inside a string, at times encoded twice; anything else as it is."""
    for _ in range(2):
        if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
            return value
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return value
    return value


def nested(attributes: dict[str, Any], prefix: str) -> list[Any]:
    """The list that attributes spell out: `llm.input_messages.0.message.role` and the like."""
    tree: dict[str, Any] = {}
    size = len(prefix)
    for key, value in attributes.items():
        if not key.startswith(prefix):
            continue
        *path, last = key[size:].split(".")
        place = tree
        for part in path:
            inner = place.get(part)
            if not isinstance(inner, dict):
                inner = place[part] = {}
            place = inner
        place[last] = value
    listed = _as_lists(tree)
    return listed if isinstance(listed, list) else []


def _as_lists(value: Any) -> Any:
    if not isinstance(value, dict) or not value:
        return value
    values = {key: _as_lists(inner) for key, inner in value.items()}
    if all(map(is_whole_number, values)):
        return [values[key] for key in sorted(values, key=int)]
    return values


_NESTED = frozenset(
    {"llm", "input", "output", "openinference", "tool", "retrieval", "agent", "graph"}
)


def flattened(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes with dots in their names, where Phoenix has made objects of them."""
    flat = dict(attributes)
    waiting: list[tuple[str, Any]] = []
    for key, value in attributes.items():
        spelled_out = key.startswith("llm.") and isinstance(value, list)
        if spelled_out or (key in _NESTED and isinstance(value, dict)):
            waiting.append((f"{key}.", flat.pop(key)))
    while waiting:
        prefix, level = waiting.pop()
        items: Any = level.items() if isinstance(level, dict) else enumerate(level)
        for key, value in items:
            is_list = isinstance(value, list) and any(isinstance(item, dict) for item in value)
            if isinstance(value, dict) or is_list:
                waiting.append((f"{prefix}{key}.", value))
            else:
                flat[f"{prefix}{key}"] = value
    return flat
