"""Reads the results of a search, whatever form the tool returns them in."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

# The keys under which tools put their list of results, and the source of a result.
_LISTS = ("results", "documents", "docs", "hits", "items", "matches", "chunks", "sources", "data")
_SOURCES = ("source", "path", "file", "file_path", "filename", "url", "uri", "title", "name", "id")


class SearchResult(Struct, frozen=True):
    """One result: the names of its source (path, title, URL, …), and all of its text."""

    sources: tuple[str, ...]
    text: str


class SearchResults(Struct, frozen=True):
    """The results of one search. `countable` is False for prose: it has no number of results."""

    results: tuple[SearchResult, ...]
    countable: bool = True


def read_results(result: Any) -> SearchResults | None:
    """Read a tool's result; None if it was not recorded or its form is not known."""
    if isinstance(result, str):
        return _from_text(result)
    if isinstance(result, dict):
        for key in _LISTS:
            if isinstance(result.get(key), (list, tuple)):
                return read_results(result[key])
        text = result.get("content", result.get("text", result.get("output")))
        if isinstance(text, (list, tuple)) or (
            isinstance(text, str) and not any(key in result for key in _SOURCES)
        ):
            return read_results(text)
        if any(key in result for key in _SOURCES) or isinstance(text, str):
            return SearchResults((_one(result),))
        return SearchResults(()) if not result else None
    if isinstance(result, (list, tuple)):
        if all(isinstance(item, (str, dict)) for item in result):
            return SearchResults(tuple(_one(item) for item in result))
        return None
    return None


def _from_text(text: str) -> SearchResults | None:
    stripped = text.strip()
    if not stripped:
        return SearchResults(())
    try:
        decoded = msgspec.json.decode(stripped)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        decoded = text
    if isinstance(decoded, str):
        return SearchResults((SearchResult((), text),), countable=False)
    return read_results(decoded)


def _one(item: str | dict[str, Any]) -> SearchResult:
    if isinstance(item, str):
        return SearchResult((item,), item)
    metadata = item.get("metadata")
    holders = [item, metadata] if isinstance(metadata, dict) else [item]
    names = tuple(
        holder[key]
        for holder in holders
        for key in _SOURCES
        if isinstance(holder.get(key), str) and holder[key]
    )
    return SearchResult(names, "\n".join(strings(item)))


def strings(value: Any) -> Iterable[str]:
    """Every text inside a value, and every other scalar as text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)
    elif value is not None:
        yield str(value)


def has_source(found: SearchResult, wanted: str) -> bool:
    """Whether the result comes from that source: its whole name, or the end of its path.

    `install.md` matches the source `docs/install.md`, but not `reinstall.md`. Unicode forms of the
    same characters (NFC and NFD) are equal.
    """
    name = _canonical(wanted)
    if any(_is_or_ends_with(_canonical(source), name) for source in found.sources):
        return True
    return not found.sources and _occurs_alone(_canonical(found.text), name)


def _canonical(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\\", "/")


def _is_or_ends_with(source: str, name: str) -> bool:
    return source == name or source.endswith("/" + name.lstrip("/"))


def _occurs_alone(text: str, name: str) -> bool:
    """Whether the name occurs in a text other than as part of a longer name."""
    start = text.find(name)
    while start >= 0:
        before = text[start - 1] if start else " "
        end = start + len(name)
        after = text[end : end + 2]
        longer = (
            after[:1].isalnum()
            or after[:1] in ("_", "-")
            or (after[:1] == "." and after[1:].isalnum())
        )
        if not (before.isalnum() or before in "_-.") and not longer:
            return True
        start = text.find(name, start + 1)
    return False
