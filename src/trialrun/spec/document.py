"""Reads a YAML document as plain values that know their place. Strict, and safe for any file.

PyYAML keeps the last of two equal keys, reads `no` as false, and expands aliases without limit.
This module builds the values from the parser's events, in one loop without recursion: duplicate
keys are errors, scalars follow YAML 1.2, depth and aliases are limited, and tags run no code.
"""

from __future__ import annotations

import re
from typing import Any

from trialrun.spec.validation import (
    LocatedDict,
    LocatedList,
    Mark,
    Place,
    Problems,
    Unreadable,
    WrittenFloat,
    WrittenInt,
)

MAX_DEPTH = 100
MAX_BYTES = 64 * 1024 * 1024
MAX_ALIASED = 10_000

_INTEGER = re.compile(r"[-+]?[0-9]+\Z")  # -12
_HEX_OR_OCTAL = re.compile(r"0x[0-9a-fA-F]+\Z|0o[0-7]+\Z")  # 0x1F, 0o17
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")  # 1.5e-3
_SPECIAL = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_TAG = "tag:yaml.org,2002:"
_KNOWN_TAGS = {_TAG + name for name in ("str", "int", "float", "bool", "null", "seq", "map")}
_MERGE_KEY = "<<"


def read_document(data: bytes, problems: Problems) -> Any:
    """The value of the only document in the file; Unreadable after adding the problem."""
    text = _decoded(data, problems)
    if text.lstrip().startswith("{"):
        text = _JSON_PAIR.sub(_joined, text)
    import yaml

    loader = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader
    try:
        return _Builder(problems).build(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place("", (mark.line + 1, mark.column + 1) if mark else None)
        problems.add(place, f"not YAML: {error.problem or error.context}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        character = f"\\u{error.character:04x}"
        problems.add(Place("", (line, column)), f"not YAML: {character}, {error.reason}")
    except yaml.YAMLError as error:
        problems.add(Place(), f"not YAML: {' '.join(str(error).split())}")
    raise Unreadable()


# JSON writes a character above U+FFFF as two escapes ("\ud83d\ude00"), which YAML does not accept.
_JSON_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def _joined(match: re.Match[str]) -> str:
    high, low = int(match[1], 16), int(match[2], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _decoded(data: bytes, problems: Problems) -> str:
    if len(data) > MAX_BYTES:
        problems.add(Place(), f"at most {MAX_BYTES:,} bytes are read")
        raise Unreadable()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = data[error.start]
        problems.add(Place("", (line, 1)), f"not UTF-8: byte 0x{found:02x} at offset {error.start}")
        raise Unreadable() from None
    position = text.find("\0")
    if position >= 0:
        line = text.count("\n", 0, position) + 1
        column = position - text.rfind("\n", 0, position)
        problems.add(Place("", (line, column)), f"a NUL character at offset {position}")
        raise Unreadable()
    return text


def _number(value: int | float, text: str) -> int | float:
    """The number; with its text if it would be written differently, for the hint to quote it."""
    if str(value) == text:
        return value
    kept = WrittenInt(value) if isinstance(value, int) else WrittenFloat(value)
    kept.written = text
    return kept


class _Open:
    """A mapping or list that is being filled."""

    __slots__ = ("anchor", "depth", "key", "key_mark", "path", "value")

    def __init__(self, value: LocatedDict | LocatedList, anchor: str | None, path: str) -> None:
        self.value = value
        self.anchor = anchor
        self.path = path
        self.depth = 1
        self.key: str | None = None
        self.key_mark: Mark = (0, 0)


class _Builder:
    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.anchors: dict[str, Any] = {}
        self.depths: dict[str, int] = {}
        self.open: list[_Open] = []
        self.aliased = 0
        self.documents = 0
        self.result: Any = None
        self.sound = True

    def build(self, events: Any) -> Any:
        import yaml

        for event in events:
            kind = type(event)
            mark = (event.start_mark.line + 1, event.start_mark.column + 1)
            if kind is yaml.ScalarEvent:
                self.add(self.scalar(event, mark), mark, event.anchor)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self.start(event, mark, is_mapping=kind is yaml.MappingStartEvent)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self.end()
            elif kind is yaml.AliasEvent:
                self.add(self.alias(event.anchor, mark), mark, None)
            elif kind is yaml.DocumentStartEvent:
                self.documents += 1
                if self.documents > 1:
                    self.fail(mark, "a second document; one file is one suite")
        if not self.documents:
            self.problems.add(Place(), "the file is empty")
            raise Unreadable()
        if not self.sound:
            raise Unreadable()
        return self.result

    def fail(self, mark: Mark, message: str) -> None:
        self.problems.add(Place(self.path(), mark), message)
        raise Unreadable()

    def path(self) -> str:
        """The path of the value that comes next."""
        if not self.open:
            return ""
        holder = self.open[-1]
        if isinstance(holder.value, LocatedList):
            return f"{holder.path}[{len(holder.value)}]"
        if holder.key is None:
            return holder.path
        return f"{holder.path}.{holder.key}" if holder.path else holder.key

    def scalar(self, event: Any, mark: Mark) -> Any:
        text: str = event.value
        if event.tag is not None and event.tag != "!":
            if event.tag not in _KNOWN_TAGS:
                self.fail(mark, f"the tag {event.tag} is not allowed: a spec is plain data")
            if event.tag == _TAG + "str":
                return text
        elif not event.implicit[0]:
            return text  # quoted, or a block scalar: always text
        if text in _SPECIAL:
            return _SPECIAL[text]
        first = text[:1]
        if not (first.isdigit() or first in "+-."):
            return text
        if _INTEGER.match(text):
            return _number(int(text), text) if len(text) <= 400 else float("inf")
        if _HEX_OR_OCTAL.match(text):
            return _number(int(text, 0), text) if len(text) <= 400 else float("inf")
        if _FLOAT.match(text):
            return _number(float(text), text)
        return text

    def start(self, event: Any, mark: Mark, is_mapping: bool) -> None:
        if event.tag is not None and event.tag not in _KNOWN_TAGS:
            self.fail(mark, f"the tag {event.tag} is not allowed: a spec is plain data")
        if len(self.open) >= MAX_DEPTH:
            self.fail(mark, f"nested more than {MAX_DEPTH} levels deep")
        value = LocatedDict() if is_mapping else LocatedList()
        path = self.path()
        self.add(value, mark, None)
        self.open.append(_Open(value, event.anchor, path))

    def end(self) -> None:
        closed = self.open.pop()
        self.deepen(closed.depth)
        if closed.anchor is not None:
            self.anchors[closed.anchor] = closed.value
            self.depths[closed.anchor] = closed.depth

    def alias(self, anchor: str, mark: Mark) -> Any:
        if anchor not in self.anchors:
            message = f"no anchor for the alias *{anchor}, or it is inside its own anchor"
            self.fail(mark, f"{message}; if it is text, quote it")
        value = self.anchors[anchor]
        self.aliased += _size(value, MAX_ALIASED + 1 - self.aliased)
        depth = self.depths.get(anchor, 0)
        if len(self.open) + depth > MAX_DEPTH:
            self.fail(mark, f"nested more than {MAX_DEPTH} levels deep")
        self.deepen(depth)
        if self.aliased > MAX_ALIASED:
            self.fail(mark, f"aliases expand to more than {MAX_ALIASED:,} values")
        return value

    def deepen(self, depth: int) -> None:
        """Note that the value being filled contains one of this depth."""
        if self.open:
            self.open[-1].depth = max(self.open[-1].depth, depth + 1)

    def add(self, value: Any, mark: Mark, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor], self.depths[anchor] = value, 0
        if not self.open:
            self.result = value
            return
        holder = self.open[-1]
        if isinstance(holder.value, LocatedList):
            holder.value.append(value)
            holder.value.marks.append(mark)
        elif holder.key is None:
            self.key(holder, value, mark)
        else:
            holder.value[holder.key] = value
            holder.value.key_marks[holder.key] = holder.key_mark
            holder.value.value_marks[holder.key] = mark
            holder.key = None

    def key(self, holder: _Open, key: Any, mark: Mark) -> None:
        assert isinstance(holder.value, LocatedDict)
        if not isinstance(key, str):
            if isinstance(key, (LocatedDict, LocatedList)):
                self.fail(mark, "a mapping or list cannot be a key")
            key = "null" if key is None else str(key).lower() if key in (True, False) else str(key)
        if key == _MERGE_KEY:
            self.fail(mark, "merge keys (<<) are not read; use `defaults:` for what cases share")
        if key in holder.value:
            line, column = holder.value.key_marks[key]
            self.problems.add(
                Place(f"{holder.path}.{key}" if holder.path else key, mark),
                f"the key `{key}` is given twice; first at {line}:{column}",
            )
            self.sound = False
        holder.key, holder.key_mark = key, mark


def _size(value: Any, limit: int) -> int:
    """The number of values inside this one, counted up to the limit."""
    total, waiting = 0, [value]
    while waiting and total <= limit:
        item = waiting.pop()
        total += 1
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return total
