"""Reads YAML of other programs to plain values, in linear time and memory.

It is built from the parser's events, as PyYAML's own loaders cannot be limited: the one in C
recurses until the process dies, merge keys (`<<`) copy without end, and `1:1:1…` is a number whose
value takes quadratic time.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from trialrun.errors import TraceError

_DEEPEST = 200
_MOST_NODES = 5_000_000
_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?\d{1,18}", re.ASCII)  # -12
# 1.5, .5, 1.5e-3, 2e+9
_FLOAT = re.compile(
    r"[-+]?(?:\d{1,99}\.\d{0,99}|\.\d{1,99}|\d{1,99}(?=e))(?:e[-+]?\d{1,3})?",
    re.ASCII | re.IGNORECASE,
)


class _Open:
    """A mapping or list that is being filled."""

    __slots__ = ("anchor", "depth", "key", "size", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.depth = 1  # levels, with those of the values in it
        self.size = 1  # nodes, with those of references
        self.key: str | None = None


class _Anchored:
    """A value that references may name."""

    __slots__ = ("depth", "size", "value")

    def __init__(self, value: Any, depth: int, size: int) -> None:
        self.value, self.depth, self.size = value, depth, size


def read_yaml(data: bytes) -> Any:
    """The value of the one document; TraceError if it is not valid, too deep or too large.

    Merge keys are ordinary keys, keys are text, and tags but `!!binary` and `!!str` say nothing.
    """
    import yaml

    reader = _Reader()
    try:
        for event in yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            reader.add(event)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise TraceError(f"not valid YAML: {' '.join(str(error).split())[:300]}") from None
    return reader.result


class _Reader:
    def __init__(self) -> None:
        import yaml

        self.result: Any = None
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._documents = 0
        self._nodes = 0
        self._actions = {
            yaml.ScalarEvent: self._scalar,
            yaml.AliasEvent: self._alias,
            yaml.MappingStartEvent: lambda event: self._start({}, event.anchor),
            yaml.SequenceStartEvent: lambda event: self._start([], event.anchor),
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.DocumentStartEvent: self._document,
        }

    def add(self, event: Any) -> None:
        """Add an event of the parser."""
        action = self._actions.get(type(event))
        if action is not None:
            action(event)

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise TraceError("not valid YAML: a second document in the file")

    def _scalar(self, event: Any) -> None:
        found = _Anchored(event.value if self._is_key() else _value(event), 0, 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = found
        self._put(found)

    def _alias(self, event: Any) -> None:
        found = self._anchors.get(event.anchor)
        if found is None:
            raise TraceError(f"not valid YAML: the reference *{event.anchor} has no value yet")
        self._check_depth(found.depth)
        self._put(found)

    def _start(self, value: dict[str, Any] | list[Any], anchor: str | None) -> None:
        self._check_depth(1)
        if self._is_key():
            raise TraceError("not valid YAML: a mapping or list cannot be a key")
        self._open.append(_Open(value, anchor))

    def _end(self, event: Any) -> None:
        closed = self._open.pop()
        self._nodes -= closed.size - 1  # they are counted again, with the value
        found = _Anchored(closed.value, closed.depth, closed.size)
        if closed.anchor is not None:
            self._anchors[closed.anchor] = found
        self._put(found)

    def _is_key(self) -> bool:
        return (
            bool(self._open)
            and isinstance(self._open[-1].value, dict)
            and (self._open[-1].key is None)
        )

    def _check_depth(self, more: int) -> None:
        if len(self._open) + more > _DEEPEST:
            raise TraceError(f"nested more than {_DEEPEST} levels deep")

    def _put(self, found: _Anchored) -> None:
        """Add a whole value to the one that is open."""
        self._nodes += found.size
        if self._nodes > _MOST_NODES:
            raise TraceError("the document is too large once its references are followed")
        if not self._open:
            self.result = found.value
            return
        holder = self._open[-1]
        holder.size += found.size
        holder.depth = max(holder.depth, found.depth + 1)
        if isinstance(holder.value, list):
            holder.value.append(found.value)
        elif holder.key is None:
            holder.key = _key(found.value)
        else:
            holder.value[holder.key] = found.value
            holder.key = None


def _key(value: Any) -> str:
    if isinstance(value, (dict, list)):
        raise TraceError("not valid YAML: a mapping or list cannot be a key")
    return str(value)


def _value(event: Any) -> Any:
    """The value of a scalar: only what is not quoted can be a number, true, false or null."""
    text: str = event.value
    if event.tag == _TAG + "binary":
        return base64.b64decode(text)
    if event.tag == _TAG + "str" or not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
