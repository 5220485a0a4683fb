"""Finds misspelt keywords and formats in a JSON schema: a validator ignores what it does not know.

Annotations and extensions (`example`, `x-order`) are allowed: only a word that is close to a
keyword which restricts a value is refused, because without it the schema accepts too much.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.util.texts import nearest

_OF_ONE = frozenset(
    [
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
_OF_A_LIST = frozenset(["allOf", "anyOf", "items", "oneOf", "prefixItems"])
_OF_A_MAPPING = frozenset(
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]
)
_RESTRICTING = (
    _OF_ONE
    | _OF_A_LIST
    | _OF_A_MAPPING
    | frozenset(
        [
            "$ref",
            "const",
            "dependentRequired",
            "enum",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "format",
            "maxContains",
            "maxItems",
            "maxLength",
            "maxProperties",
            "maximum",
            "minContains",
            "minItems",
            "minLength",
            "minProperties",
            "minimum",
            "multipleOf",
            "pattern",
            "required",
            "type",
            "uniqueItems",
        ]
    )
)
_OTHERS = frozenset(
    [
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "$schema",
        "$vocabulary",
        "contentEncoding",
        "contentMediaType",
        "default",
        "deprecated",
        "description",
        "example",
        "examples",
        "id",
        "nullable",
        "readOnly",
        "title",
        "writeOnly",
    ]
)
_FORMATS = frozenset(
    [
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
        "uuid",
    ]
)
_CLOSE = 0.8


def require_known_keywords(schema: Any) -> None:
    """Raise ValueError for a keyword or format that is close to a known one."""
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        path, part = waiting.pop()
        if not isinstance(part, dict):
            continue
        for key in part:
            if key not in _RESTRICTING and key not in _OTHERS:
                meant = nearest(str(key)[:200], _RESTRICTING, _CLOSE)
                if meant is not None:
                    raise _misspelt(path, "keyword", key, meant)
        given = part.get("format")
        if isinstance(given, str) and given not in _FORMATS:
            meant = nearest(given[:200], _FORMATS, _CLOSE)
            if meant is not None:
                raise _misspelt(path, "format", given, meant)
        waiting += _inner(path, part)


def _misspelt(path: str, what: str, found: str, meant: str) -> ValueError:
    place = f"{path}: " if path else ""
    return ValueError(f"{place}unknown {what} `{found}` of a JSON schema; did you mean `{meant}`?")


def _inner(path: str, part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas inside this one, each with its path. Names of properties are not keywords."""
    for key, value in part.items():
        here = f"{path}/{key}" if path else str(key)
        if isinstance(value, dict) and key in _OF_A_MAPPING:
            yield from ((f"{here}/{name}", item) for name, item in value.items())
        elif isinstance(value, dict) and key in _OF_ONE:
            yield here, value
        elif isinstance(value, list) and key in _OF_A_LIST:
            yield from ((f"{here}/{number}", item) for number, item in enumerate(value))
