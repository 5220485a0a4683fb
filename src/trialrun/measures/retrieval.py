"""What a search gave back, whatever form its tool chose for it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

# Where tools put their list of results, the name of a result's source, and its text.
_LISTS = ("results", "documents", "docs", "hits", "items", "matches", "chunks", "sources", "data")
_SOURCES = ("source", "path", "file", "file_path", "filename", "url", "uri", "title", "name", "id")


class Found(Struct, frozen=True):
    """One result: the names under which its source goes, and all of its text."""

    sources: tuple[str, ...]
    text: str


class Findings(Struct, frozen=True):
    """What one search gave back. `countable` is False for running text: it has no number."""

    results: tuple[Found, ...]
    countable: bool = True


def findings(result: Any) -> Findings | None:
    """Read a tool's result; None where it is not recorded or of a form that cannot be read."""
    if isinstance(result, str):
        return _from_text(result)
    if isinstance(result, dict):
        for key in _LISTS:
            if isinstance(result.get(key), (list, tuple)):
                return findings(result[key])
        text = result.get("content", result.get("text", result.get("output")))
        if isinstance(text, (list, tuple)) or (
            isinstance(text, str) and not any(key in result for key in _SOURCES)
        ):
            return findings(text)
        if any(key in result for key in _SOURCES) or isinstance(text, str):
            return Findings((_one(result),))
        return Findings(()) if not result else None
    if isinstance(result, (list, tuple)):
        if all(isinstance(item, (str, dict)) for item in result):
            return Findings(tuple(_one(item) for item in result))
        return None
    return None


def _from_text(text: str) -> Findings | None:
    stripped = text.strip()
    if not stripped:
        return Findings(())
    try:
        decoded = msgspec.json.decode(stripped)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        decoded = text
    if isinstance(decoded, str):
        return Findings((Found((), text),), countable=False)
    return findings(decoded)


def _one(item: str | dict[str, Any]) -> Found:
    if isinstance(item, str):
        return Found((item,), item)
    metadata = item.get("metadata")
    holders = [item, metadata] if isinstance(metadata, dict) else [item]
    names = tuple(
        holder[key]
        for holder in holders
        for key in _SOURCES
        if isinstance(holder.get(key), str) and holder[key]
    )
    return Found(names, "\n".join(strings(item)))


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


def has_source(found: Found, wanted: str) -> bool:
    """Whether the result comes from that source: its whole name, or the end of its path.

    `install.md` is the source of `docs/install.md`, not of `reinstall.md`. Two spellings of the
    same characters (NFC and NFD) are the same name.
    """
    name = _canonical(wanted)
    if any(_is_or_ends_with(_canonical(source), name) for source in found.sources):
        return True
    return not found.sources and _stands_alone(_canonical(found.text), name)


def _canonical(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\\", "/")


def _is_or_ends_with(source: str, name: str) -> bool:
    return source == name or source.endswith("/" + name.lstrip("/"))


def _stands_alone(text: str, name: str) -> bool:
    """The name occurs in running text with nothing of a longer name on either side."""
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
