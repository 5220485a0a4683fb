"""Names files that hold no recording, and JSON of an unknown format, as what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trialrun.importers._source import NO_DOCUMENT, Source

_NOT_A_RECORDING = "no trace is read from it"
_OURS = frozenset({"input", "output", "steps"})


def what_it_is(source: Source) -> str | None:
    """What the file holds, if it is known to hold no trace; None if it may be trialrun's own."""
    document = source.document if source.document is not NO_DOCUMENT else source.objects
    for applies, what in _KNOWN:
        if applies(document):
            return f"{what}: {_NOT_A_RECORDING}"
    return None


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(key in value for key in keys)


def _items_have(*keys: str) -> Callable[[Any], bool]:
    has = _has(*keys)
    return lambda value: isinstance(value, list) and bool(value) and all(map(has, value))


def _named_expectations(value: Any) -> bool:
    """`[{"name": …, "data": [{"query": …, "expected_tool_use": …}]}]`"""
    expects = _items_have("query", "expected_tool_use")
    return _items_have("name", "data")(value) and all(expects(item["data"]) for item in value)


def _data_set(value: Any) -> bool:
    """`[{"input": …, "expected_tools": […]}]`: what is wanted, and nothing that was done."""
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(
        isinstance(item, dict)
        and any(str(key).startswith("expected") for key in item)
        and not _OURS & item.keys() - {"input"}
        for item in items
    )


_EVALSET = "an evaluation set of Google ADK, with calls that are expected and not made"

_KNOWN: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (_has("eval_set_id", "eval_cases"), _EVALSET),
    (_items_have("query", "expected_tool_use"), _EVALSET),
    (_named_expectations, _EVALSET),
    (_data_set, "a data set, with answers or calls that are expected and not made"),
    (_has("lockfileVersion", "packages"), "a package-lock.json of npm"),
    (_has("$schema", "definitions"), "a JSON schema"),
    (_has("openapi", "paths"), "an OpenAPI description"),
)
