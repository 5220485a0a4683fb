"""Whether a search result comes from a source: by its whole name, or by the end of its path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from msgspec import Struct


class SearchResult(Struct, frozen=True):
    """One result: the names of its source (path, title, URL, …), and all of its text."""

    sources: tuple[str, ...]
    text: str


# What may be before a name in a line that lists it: "- ", "1. [", "Source: docs/", '<doc path="'.
_BEFORE = re.compile(
    r"[\W\d_]*(?:(?:<\w+\s+)?(?:source|file|path|url|uri|link|title|document|doc|filename|name|page"
    r"|href|from|ref|reference)s?[\"'*`]*\s*[:=>][\s\"'<\[(`*]*)?(?:[^\s\"'`<>()\[\]=,;|]*/)?",
    re.IGNORECASE,
)
# … and after it: ":12: text", " (score 0.9)", "</source>", '"/>'.
_AFTER = re.compile(
    r":\d+[:-].*|(?:[\W\d_]|</\w+>|\b(?:score|relevance|similarity|distance|rank|pages?|lines?"
    r"|chunk)\b)*",
    re.IGNORECASE,
)
# A line that announces what was not found: "Not found:", "Missing files:".
_DENIED = re.compile(r"\b(?:not?|missing|without|unable|errors?|failed)\b.*:\s*$", re.IGNORECASE)


def has_source(found: SearchResult, wanted: str) -> bool | None:
    """Whether the result comes from that source.

    `install.md` matches the source `docs/install.md`, but not `reinstall.md`. Unicode forms of the
    same characters (NFC and NFD) are equal. None: the result is running text that mentions the
    name, and "install.md was not found" mentions it too.
    """
    name = _canonical(wanted)
    if any(_is_or_ends_with(_canonical(source), name) for source in found.sources):
        return True
    if found.sources:
        return False
    text = _canonical(found.text)
    places = list(_alone_in(text, name))
    if not places:
        return False
    return True if any(_is_listed(text, place, place + len(name)) for place in places) else None


def _canonical(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\\", "/")


def _is_or_ends_with(source: str, name: str) -> bool:
    return source == name or source.endswith("/" + name.lstrip("/"))


def _alone_in(text: str, name: str) -> Iterator[int]:
    """Where the name occurs in a text other than as part of a longer name."""
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
            yield start
        start = text.find(name, start + 1)


def _is_listed(text: str, start: int, end: int) -> bool:
    """Whether the line gives the name as a source, and does not only speak about it."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    before, after = text[first:start], text[end : len(text) if last < 0 else last]
    if not (_BEFORE.fullmatch(before) and _AFTER.fullmatch(after)):
        return False
    return not any(_DENIED.search(line) for line in text[:first].splitlines()[-20:])
