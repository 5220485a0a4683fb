"""Converts plain values to typed ones, and reports every mistake with its place.

msgspec stops at the first error and does not know the place of a value in a file. Here a value is
compared with its type (as `msgspec.inspect` describes it); every problem is collected with its path
and, if the value came from a file, its line and column; for a misspelt key the nearest valid one is
suggested.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from trialrun.errors import Problem
from trialrun.model.case import MODEL_NAME, MODULE_AND_NAME, WEB_ADDRESS
from trialrun.util.texts import did_you_mean, nearest, shown

Mark = tuple[int, int]


class WrittenInt(int):
    """A whole number that knows how it is written in the file: `010`, `0x1F`."""

    written: str


class WrittenFloat(float):
    """A number that knows how it is written in the file: `1.10`."""

    written: str


class LocatedDict(dict[str, Any]):
    """A mapping that knows the place of each key and value in a file.

    `source_paths` has the path of the mapping from which a key was inherited, if it was.
    """

    __slots__ = ("key_marks", "source_paths", "value_marks")

    def __init__(self) -> None:
        super().__init__()
        self.source_paths: dict[str, str] = {}
        self.key_marks: dict[str, Mark] = {}
        self.value_marks: dict[str, Mark] = {}


class LocatedList(list[Any]):
    """A list that knows the place of each item in a file."""

    __slots__ = ("marks",)

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[Mark] = []


class Place:
    """The place of a value: its path and, if it came from a file, its mark (line, column)."""

    __slots__ = ("mark", "path")

    def __init__(self, path: str = "", mark: Mark | None = None) -> None:
        self.path = path
        self.mark = mark

    def key(self, holder: dict[str, Any], key: str) -> Place:
        """The place of a key, for a misspelling."""
        return self._below(holder, key, "key_marks")

    def value(self, holder: dict[str, Any], key: str) -> Place:
        """The place of a key's value."""
        return self._below(holder, key, "value_marks")

    def _below(self, holder: dict[str, Any], key: str, marks: str) -> Place:
        source = getattr(holder, "source_paths", {}).get(key, self.path)
        path = f"{source}.{key}" if source else str(key)
        return Place(path, getattr(holder, marks, {}).get(key, self.mark))

    def item(self, holder: list[Any], index: int) -> Place:
        """The place of a list's item."""
        mark = holder.marks[index] if isinstance(holder, LocatedList) else self.mark
        return Place(f"{self.path}[{index}]", mark)


class Problems:
    """Collects the problems of one document."""

    def __init__(self, file: str | None = None) -> None:
        self.file = file
        self.found: list[Problem] = []
        self._seen: set[tuple[str, int | None, int | None, str]] = set()

    def add(self, place: Place, message: str) -> None:
        """Add a problem at this place."""
        line, column = place.mark or (None, None)
        path = place.path if len(place.path) <= 200 else place.path[:200] + "…"
        problem = Problem(message[:1000], path, self.file, line, column)
        # A mistake in the defaults is found again in every case: report it once.
        key = (problem.path, line, column, problem.message)
        if key not in self._seen:
            self._seen.add(key)
            self.found.append(problem)


class Unreadable(Exception):
    """The value is not valid; the problem has been added already."""


@cache
def _type_of(annotation: Any) -> inspect.Type:
    return inspect.type_info(annotation)


def read(value: Any, annotation: Any, place: Place, problems: Problems) -> Any:
    """The value converted to the type. Raises Unreadable after adding the problems, if any."""
    return _read(value, _type_of(annotation), place, problems)


def _read(value: Any, kind: inspect.Type, place: Place, problems: Problems) -> Any:
    reader = _READERS.get(type(kind))
    if reader is None:
        kind_name = type(kind).__name__.removesuffix("Type").lower()
        raise TypeError(f"a spec cannot give a value of the type {kind_name}")
    return reader(value, kind, place, problems)


def _fail(place: Place, problems: Problems, wanted: str, value: Any, hint: str = "") -> Unreadable:
    problems.add(place, f"expected {wanted}, found {described(value)}{hint}")
    return Unreadable()


def described(value: Any) -> str:
    """The value in words, for a message: "the text "x"", "a list"."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "an empty list" if not value else "a list"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if isinstance(value, bool) or value is None:
        return shown(value)
    return f"the number {shown(value)}"


def _read_any(value: Any, kind: inspect.Type, place: Place, problems: Problems) -> Any:
    return plain(value)


def plain(value: Any) -> Any:
    """The same value without marks."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (WrittenInt, WrittenFloat)):
        return int(value) if isinstance(value, int) else float(value)
    return value


def _read_text(value: Any, kind: inspect.StrType, place: Place, problems: Problems) -> str:
    if not isinstance(value, str):
        raise _fail(place, problems, "text", value, _quote_hint(value))
    if kind.min_length and len(value) < kind.min_length:
        raise _fail(place, problems, "text that is not empty", value)
    if kind.pattern and not re.search(kind.pattern, value):
        raise _fail(place, problems, _PATTERN_NAMES.get(kind.pattern, kind.pattern), value)
    if kind.min_length and not value.strip():
        raise _fail(place, problems, "text that is not blank", value)
    return value


_PATTERN_NAMES = {
    MODEL_NAME: "a model, such as openai:gpt-4o-mini",
    MODULE_AND_NAME: "module:function, such as my_app.agent:run",
    WEB_ADDRESS: "an address that begins with http:// or https://",
}


def _quote_hint(value: Any) -> str:
    if not isinstance(value, (bool, int, float)):
        return ""
    written = getattr(value, "written", None) or shown(value)
    return f'; write "{written}" if the text is meant'


def _read_described(value: Any, kind: inspect.Metadata, place: Place, problems: Problems) -> Any:
    """A type with a remark. `blank`: white space is a value, as in `not_in_answer: ["\\t"]`."""
    if (kind.extra or {}).get("blank") and isinstance(value, str) and value:
        return value
    return _read(value, kind.type, place, problems)


def _read_flag(value: Any, kind: inspect.Type, place: Place, problems: Problems) -> bool:
    if not isinstance(value, bool):
        raise _fail(place, problems, "true or false", value)
    return value


def _read_whole(value: Any, kind: inspect.IntType, place: Place, problems: Problems) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not _in_bounds(value, kind):
        raise _fail(
            place, problems, "a whole number" + _bounds(kind), value, _only_pass(place, value)
        )
    return int(value)


def _read_number(value: Any, kind: inspect.FloatType, place: Place, problems: Problems) -> float:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool)
    if usable:
        try:
            usable = math.isfinite(value) and _in_bounds(value, kind)
        except OverflowError:  # an integer of hundreds of digits
            usable = False
    if not usable:
        raise _fail(place, problems, "a number" + _bounds(kind), value, _only_pass(place, value))
    return float(value)


def _only_pass(place: Place, value: Any) -> str:
    """A hint for `min_steps: 0`: no run is below it."""
    is_minimum = place.path.rpartition(".")[2].startswith("min")
    return "; a minimum of 0 could only pass" if is_minimum and value == 0 else ""


def _in_bounds(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    return (
        (kind.ge is None or value >= kind.ge)
        and (kind.gt is None or value > kind.gt)
        and (kind.le is None or value <= kind.le)
        and (kind.lt is None or value < kind.lt)
    )


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is not None and kind.le is not None:
        return f" from {kind.ge:g} to {kind.le:g}"
    if kind.ge is not None:
        return f", {kind.ge:g} or more"
    if kind.gt is not None:
        return f" above {kind.gt:g}" + ("" if kind.le is None else f", at most {kind.le:g}")
    return ""


def _read_list(value: Any, kind: inspect.ListType, place: Place, problems: Problems) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        hint = f"; write [{_as_items(value, place)}]" if isinstance(value, str) else ""
        if len(hint) > 70:
            hint = ""
        raise _fail(place, problems, "a list" + _of(kind.item_type), value, hint)
    if kind.min_length and len(value) < kind.min_length:
        raise _fail(place, problems, "a list" + _of(kind.item_type) + " that is not empty", value)
    items, complete = [], True
    for index, item in enumerate(value):
        try:
            items.append(_read(item, kind.item_type, place.item(value, index), problems))  # type: ignore[arg-type]
        except Unreadable:
            complete = False
    if not complete:
        raise Unreadable()
    return items


def _as_items(text: str, place: Place) -> str:
    """The text as the items of a list: the words of a command, otherwise the whole text."""
    return ", ".join(text.split()) if place.path.endswith("command") else text


def _of(kind: inspect.Type) -> str:
    return " of texts" if isinstance(kind, inspect.StrType) else ""


def _read_dict(value: Any, kind: inspect.DictType, place: Place, problems: Problems) -> Any:
    if not isinstance(value, dict):
        raise _fail(place, problems, "a mapping", value)
    items, complete = {}, True
    for key, item in value.items():
        try:
            items[key] = _read(item, kind.value_type, place.value(value, key), problems)
        except Unreadable:
            complete = False
    if not complete:
        raise Unreadable()
    return items


def _read_choice(
    value: Any, kind: inspect.EnumType | inspect.LiteralType, place: Place, problems: Problems
) -> Any:
    if isinstance(kind, inspect.EnumType):
        choices: dict[Any, Any] = {member.value: member for member in kind.cls}
    else:
        choices = {choice: choice for choice in kind.values}
    try:
        if value in choices and type(value) is not bool:
            return choices[value]
    except TypeError:  # a list or a mapping, which cannot be looked up
        pass
    names = [str(choice) for choice in choices]
    wanted = f"one of {', '.join(names)}" if len(names) > 1 else names[0]
    hint = ""
    if isinstance(value, str) and (meant := nearest(value, names)):
        hint = f"; did you mean `{meant}`?"
    raise _fail(place, problems, wanted, value, hint)


def _read_none(value: Any, kind: inspect.Type, place: Place, problems: Problems) -> None:
    if value is not None:
        raise _fail(place, problems, "null", value)


def _read_union(value: Any, kind: inspect.UnionType, place: Place, problems: Problems) -> Any:
    """Read the value as the first member of the union that has the value's form."""
    for member in kind.types:
        if _same_form(value, member):
            return _read(value, member, place, problems)
    wanted = " or ".join(_form_name(member) for member in kind.types if not _is_none(member))
    texts = any(isinstance(member, inspect.StrType) for member in kind.types)
    raise _fail(place, problems, wanted, value, _quote_hint(value) if texts else "")


def _is_none(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.NoneType)


def _same_form(value: Any, kind: inspect.Type) -> bool:
    accepted = _FORMS.get(type(kind))
    if accepted is None:
        return True
    if isinstance(value, bool):
        return accepted == (bool,)
    return isinstance(value, accepted)


def _form_name(kind: inspect.Type) -> str:
    return _FORM_NAMES.get(type(kind), "another value")


def _read_struct(value: Any, kind: inspect.StructType, place: Place, problems: Problems) -> Any:
    if not isinstance(value, dict):
        raise _fail(place, problems, "a mapping", value)
    known = {field.encode_name: field for field in kind.fields}
    complete = True
    settings: dict[str, Any] = {}
    for key, item in value.items():
        field = known.get(key)
        if field is None:
            problems.add(place.key(value, key), "unknown key" + did_you_mean(key, known))
            complete = False
            continue
        try:
            settings[field.name] = _read(item, field.type, place.value(value, key), problems)
        except Unreadable:
            complete = False
    for name, field in known.items():
        if field.required and name not in value:
            problems.add(place, f"`{name}` is missing")
            complete = False
    if not complete:
        raise Unreadable()
    try:
        return kind.cls(**settings)
    except ValueError as error:
        # "field: expected …" is about the value of that key.
        name, colon, message = str(error).partition(": ")
        if colon and name in value:
            problems.add(place.value(value, name), message)
        else:
            problems.add(place, str(error))
        raise Unreadable() from None


_READERS: dict[type, Callable[[Any, Any, Place, Problems], Any]] = {
    inspect.AnyType: _read_any,
    inspect.Metadata: _read_described,
    inspect.StrType: _read_text,
    inspect.BoolType: _read_flag,
    inspect.IntType: _read_whole,
    inspect.FloatType: _read_number,
    inspect.ListType: _read_list,
    inspect.DictType: _read_dict,
    inspect.EnumType: _read_choice,
    inspect.LiteralType: _read_choice,
    inspect.NoneType: _read_none,
    inspect.UnionType: _read_union,
    inspect.StructType: _read_struct,
}

_FORMS: dict[type, tuple[type, ...]] = {
    inspect.StrType: (str,),
    inspect.BoolType: (bool,),
    inspect.IntType: (int,),
    inspect.FloatType: (int, float),
    inspect.ListType: (list, tuple),
    inspect.DictType: (dict,),
    inspect.EnumType: (str,),
    inspect.LiteralType: (str, int),
    inspect.NoneType: (type(None),),
    inspect.StructType: (dict,),
}

_FORM_NAMES = {
    inspect.StrType: "text",
    inspect.BoolType: "true or false",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.ListType: "a list",
    inspect.DictType: "a mapping",
    inspect.EnumType: "a name",
    inspect.LiteralType: "a name",
    inspect.StructType: "a mapping",
}


def field_types(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The annotations of a struct's fields, resolved."""
    return dict(_hints(kind))


@cache
def _hints(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    from typing import get_type_hints

    hints = get_type_hints(kind, include_extras=True)
    return tuple((name, hints[name]) for name in kind.__struct_fields__)


__all__ = [
    "Mark",
    "LocatedDict",
    "LocatedList",
    "Place",
    "Problems",
    "Unreadable",
    "described",
    "did_you_mean",
    "field_types",
    "nearest",
    "plain",
    "read",
    "shown",
]
