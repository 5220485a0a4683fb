"""Reads the results of a search, whatever form the tool returns them in.

Tools wrap their results: in an envelope (`{"data": {"items": []}}`), in text parts (MCP), in a text
that is JSON. What is inside decides. A result that reports an error, or that may not be a
document, is a `problem`: neither a result nor "nothing found".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trialrun.measures.search_texts import OURS, Wordings, decoded, is_empty_element
from trialrun.measures.sources import SearchResult as SearchResult
from trialrun.measures.sources import has_source as has_source
from trialrun.util.texts import excerpt

# The keys under which tools put their list of results, the text of a result, and its source.
_LISTS = (
    *("results", "documents", "docs", "hits", "items", "matches", "chunks", "sources", "data"),
    *("organic_results", "organic", "nodes", "edges", "rows", "records", "entries", "passages"),
    *("snippets", "articles", "contexts", "value", "web", "webPages", "structuredContent"),
)
_TEXTS = ("content", "text", "output", "result", "response", "page_content", "snippet", "body")
WRAPPING = frozenset((*_LISTS, *_TEXTS))
_SOURCES = ("source", "path", "file", "file_path", "filename", "url", "uri", "title", "name", "id")
# A lone mapping with one of these is a document; `{"id": "req-1", "name": "search"}` is not.
_STRONG = ("source", "path", "file", "file_path", "filename")
_NOTES = ("message", "detail", "status", "info", "note")

_COUNTS = frozenset(
    (
        *("total", "count", "found", "hits", "matches", "results", "documents", "length", "exists"),
        *("totalcount", "totalresults", "totalhits", "numresults", "resultcount", "resultscount"),
        *("nbhits", "numfound"),
    )
)
_ERRORS = (
    *("error", "errors", "err", "Err", "exception", "error_code", "error_message"),
    *("errorMessage", "errorCode"),
)
_NO_ERROR = frozenset(["", "none", "null", "false", "no", "0", "ok", "n/a"])
_FAILURES = frozenset(
    ("error", "failed", "failure", "timeout", "timed_out", "aborted", "denied", "exception")
)
_TEXT_PARTS = frozenset(["text", "output_text", "input_text"])
_PARTS = _TEXT_PARTS | {"resource", "resource_link", "image", "audio"}

_DEEPEST = 30
_UNREADABLE = "cannot be read"


class SearchResults(Struct, frozen=True):
    """The results of one search. `countable` is False for prose: it has no number of results.

    `problem` says why there may be other results, or none: an error, a form that is not known.
    `doubt` says why what is there may be no result: a text of a few words.
    """

    results: tuple[SearchResult, ...] = ()
    countable: bool = True
    problem: str = ""
    doubt: str = ""


_NONE = SearchResults()


def read_results(result: Any, wordings: Wordings = OURS) -> SearchResults:
    """Read a tool's result."""
    return _Reader(wordings).read(result, 0)


class _Reader:
    """Reads one result; `wordings` are the texts that mean "nothing found"."""

    def __init__(self, wordings: Wordings) -> None:
        self.wordings = wordings

    def read(self, value: Any, depth: int) -> SearchResults:
        if depth > _DEEPEST:
            return SearchResults(problem="is nested too deeply to be read")
        if isinstance(value, str):
            return self.text(value, depth)
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        if isinstance(value, (list, tuple)):
            return self.list(value, depth)
        return SearchResults(problem=_UNREADABLE)

    def text(self, text: str, depth: int) -> SearchResults:
        """A text: JSON, a wording for "nothing found", a message, or a document."""
        if self.wordings.mean_nothing(text):
            return _NONE
        value = decoded(text)
        if value is None:
            return _NONE
        if value != text.strip():  # it was JSON, or in a fence
            return self.read(value, depth + 1)
        if is_empty_element(value):
            return _NONE
        problem = self.wordings.problem_of(value)
        if problem:
            return SearchResults(problem=problem)
        doubt = self.wordings.doubt_about(value)
        return SearchResults((SearchResult((), text),), countable=False, doubt=doubt)

    def list(self, items: Sequence[Any], depth: int) -> SearchResults:
        """A list: parts of one answer, or results."""
        if items and all(map(_is_part, items)):
            return self.parts(items, depth)
        if _is_blank(items):
            return _NONE
        if all(isinstance(item, (list, tuple)) for item in items):
            # A row, a document with its score, a flight in two parts. One list in a list is either
            # that or another envelope: it cannot be counted.
            rows = tuple(_row(item) for item in items if not _is_blank(item))
            return SearchResults(rows, countable=len(items) > 1)
        if not all(isinstance(item, (str, Mapping)) for item in items):
            return SearchResults(problem=_UNREADABLE)
        read = [self.item(item, alone=len(items) == 1) for item in items]
        problems = [one for one in read if isinstance(one, str)]
        found = tuple(one for one in read if isinstance(one, SearchResult))
        return SearchResults(found, problem=problems[0] if problems else "")

    def parts(self, items: Sequence[Any], depth: int) -> SearchResults:
        """The parts of one answer (MCP). Parts that are plain text are one text together."""
        found: list[SearchResult] = []
        texts, problem = [], ""
        for part in items:
            if part["type"] in _TEXT_PARTS:
                read = self.text(part["text"], depth + 1)
            elif part["type"] == "resource":
                read = self.read([part.get("resource")], depth + 1)
            elif part["type"] == "resource_link":
                read = SearchResults((_whole(part),))
            else:
                read = SearchResults(problem=f"has a part of type {part['type']}")
            problem = problem or read.problem
            if read.countable:
                found += read.results
            else:
                texts += [one.text for one in read.results]
        doubt = ""
        if texts:
            whole = "\n".join(texts)
            doubt = "" if found else self.wordings.doubt_about(whole)
            found.append(SearchResult((), whole))
        return SearchResults(tuple(found), not texts, problem, doubt)

    def item(self, item: str | Mapping[str, Any], alone: bool) -> SearchResult | str | None:
        """One item of a list: a result, None for an empty one, or a text that says the problem."""
        if isinstance(item, str):
            if self.wordings.mean_nothing(item):
                return None
            return self.wordings.problem_of(item, alone) or SearchResult((item,), item)
        error = _first_true(item, (*_ERRORS, "isError", "is_error"))
        if error:
            return f"reports an error: {_shown(error)}"
        names = _names(item)
        body = next((item[key] for key in _TEXTS if isinstance(item.get(key), str)), None)
        if body is not None and not names:
            if self.wordings.mean_nothing(body) or is_empty_element(body.strip()):
                return None
            problem = self.wordings.problem_of(body, alone)
            if problem:
                return problem
        if not names and (_is_blank(item) or _is_zero(item)):
            return None
        return SearchResult(names, "\n".join(strings(item)))

    def mapping(self, value: Mapping[str, Any], depth: int) -> SearchResults:
        """A mapping: an envelope around the results, or one result."""
        error = _error_of(value)
        if error:
            return SearchResults(problem=error)
        read = self.envelope(value, depth)
        if _is_zero(value):
            # `{"path": "a.md", "matches": 0}` names where it looked, not what it found.
            has_more = any(value.get(key) for key in (*_LISTS, *_TEXTS))
            if read is None or not read.results or not has_more:
                return _NONE
            return SearchResults(problem="counts 0 results and has some")
        return SearchResults(problem=_UNREADABLE) if read is None else read

    def envelope(self, value: Mapping[str, Any], depth: int) -> SearchResults | None:
        """What the mapping holds; None if nothing in it is known."""
        if not value:
            return _NONE
        strong = any(_has_text(value, key) for key in _STRONG)
        inside = [
            _NONE if value[key] is None else self.read(value[key], depth + 1)
            for key in _LISTS
            if key in value and (_is_container(value[key]) or _may_wrap(value[key], strong))
        ]
        inside += [
            self.read(value[key], depth + 1) for key in _TEXTS if _is_container(value.get(key))
        ]
        if inside:
            some = [read for read in inside if read.results]
            unsure = [read for read in inside if read.problem]
            return (some or unsure or inside)[0]
        body = next((value[key] for key in _TEXTS if isinstance(value.get(key), str)), None)
        if body is not None:
            return self.document(value, body, strong, depth)
        if strong:
            return SearchResults((_whole(value),))
        return self.unnamed(value, depth)

    def document(
        self, value: Mapping[str, Any], body: str, strong: bool, depth: int
    ) -> SearchResults:
        """A mapping with a text: one result, or a message of the tool around the results."""
        read = self.text(body, depth + 1)
        # With a source, JSON as its text is a document too: `{"path": "package.json", …}`.
        is_document = read.problem == _UNREADABLE if not read.results else not read.countable
        if strong and (read.results or is_document):
            return SearchResults((_whole(value),))
        if not read.results or read.countable or not _names(value) or "tool_call_id" in value:
            return read
        return SearchResults((_whole(value),))

    def unnamed(self, value: Mapping[str, Any], depth: int) -> SearchResults | None:
        """A mapping without a known key: nothing if all its lists are empty, or if it says so."""
        only = next(iter(value.values()))
        if len(value) == 1 and isinstance(only, Mapping):  # {"Ok": {"content": […]}}
            return self.read(only, depth + 1)
        lists = list(_lists_in(value, 0))
        if lists and not any(lists):
            return _NONE
        notes = [value[key] for key in _NOTES if isinstance(value.get(key), str)]
        return _NONE if any(map(self.wordings.mean_nothing, notes)) else None


def _is_part(item: Any) -> bool:
    """Whether the item is a part of one answer and not a result: `{"type": "text", "text": …}`."""
    if not isinstance(item, Mapping) or item.get("type") not in _PARTS:
        return False
    if item["type"] in _TEXT_PARTS:
        return isinstance(item.get("text"), str) and not _names(item)
    return True


def _is_container(value: Any) -> bool:
    return isinstance(value, (list, tuple, Mapping))


def _may_wrap(value: Any, strong: bool) -> bool:
    """Whether a text (or null) under the key of a list is all that the search returned."""
    return value is None or (isinstance(value, str) and not strong)


def _is_blank(value: Any) -> bool:
    """Whether there is nothing but empty texts and nulls in a value: `[{}, {}]`, `["", null]`."""
    return not any(text.strip() for text in strings(value))


def _is_zero(value: Mapping[str, Any]) -> bool:
    """Whether the mapping counts its results as 0: `total: 0`, `total: {value: 0}`."""
    for key, count in value.items():
        if isinstance(key, str) and key.replace("_", "").lower() in _COUNTS:
            inner = count.get("value") if isinstance(count, Mapping) else count
            if isinstance(inner, (int, float)) and not inner:
                return True
    return False


def _first_true(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """The first value that says something: not null, false, 0, empty or "none"."""
    for key in keys:
        found = value.get(key)
        if found and str(found).strip().lower() not in _NO_ERROR:
            return found
    return None


def _error_of(value: Mapping[str, Any]) -> str:
    """The error that a mapping is marked with, as the rest of a sentence; "" if it is not."""
    error = _first_true(value, _ERRORS)
    marked = _first_true(value, ("isError", "is_error"))
    if error or marked:
        said = error or next((value[key] for key in _TEXTS if value.get(key)), True)
        return f"reports an error: {_shown(said)}"
    if any(value.get(key) is False for key in ("ok", "success", "successful")):
        return "reports that it did not succeed"
    for key in ("status", "state", "outcome", "type"):
        said = value.get(key)
        if isinstance(said, str):
            word = said.lower()
            if word in _FAILURES or (key == "type" and word.endswith("error")):
                return f"reports an error: {key} {_shown(said)}"
    for key in ("status", "statusCode", "status_code", "code"):
        code = value.get(key)
        if isinstance(code, int) and 400 <= code < 600:
            return f"reports an error: {key} {code}"
    return ""


def _shown(value: Any) -> str:
    return excerpt(" ".join(strings(value)))


def _has_text(value: Mapping[str, Any], key: str) -> bool:
    return isinstance(value.get(key), str) and bool(value[key].strip())


def _names(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of a result's source, in the result or in its `metadata`."""
    metadata = item.get("metadata")
    holders = [item, metadata] if isinstance(metadata, Mapping) else [item]
    return tuple(holder[key] for holder in holders for key in _SOURCES if _has_text(holder, key))


def _whole(item: Mapping[str, Any]) -> SearchResult:
    return SearchResult(_names(item), "\n".join(strings(item)))


def _row(items: Sequence[Any]) -> SearchResult:
    """A list within a list: one result."""
    texts = tuple(item for item in items if isinstance(item, str))
    names = [name for item in items if isinstance(item, Mapping) for name in _names(item)]
    return SearchResult((*texts, *names), "\n".join(strings(items)))


def _lists_in(value: Any, depth: int) -> Iterable[Sequence[Any]]:
    """The lists in a mapping, at any depth of mappings."""
    if isinstance(value, (list, tuple)):
        yield value
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        for item in value.values():
            yield from _lists_in(item, depth + 1)


def strings(value: Any) -> Iterable[str]:
    """Every text inside a value, and every other scalar as text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)
    elif value is not None:
        yield str(value)
