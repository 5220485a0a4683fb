"""Decides what a text that a search returned is: nothing found, a message, or a document.

Only a wording that is listed is *nothing found*. A short text that reads like a message ("could not
reach the index") is not decided by its wording: it is reported as a problem, never as a result.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.util.texts import excerpt

_LONGEST_MESSAGE = 300
"""Characters up to which a text may be a message of the tool and not a document."""

_FEWEST_WORDS = 6
_SHORT = 60
_WORD = re.compile(r"\w+")  # three in: Keine Ergebnisse gefunden.
_LONGEST_LITERAL = 100_000
_OPENING = 200

# "No results found", "0 matches", "no matching documents were found", "Found 0 files".
_NOTHING = re.compile(
    r"(?:found )?(?:no|0|zero)(?: (?:good|relevant|matching|search|such|more|exact|further))*"
    r" (?:results?|match(?:es)?|documents?|docs|hits?|data|files?|records?|items?|entry|entries"
    r"|pages?|articles?|information|content|output|rows?|sources?|answers?|passages?|chunks?"
    r"|snippets?|lines?|(?:total )?occurrences?)(?: (?:was|were))?"
    r"(?: (?:found|available|returned|matched))?"
)
# "null" and "[]" as JSON are read before; these are what programs print for the same.
_EMPTY_WORDS = frozenset(
    (
        *("none", "null", "nil", "undefined", "nan", "n/a", "empty", "nothing", "nothing found"),
        *("nothing was found", "not found", "no match found"),
    )
)

# "Error: connection refused", "httpx.ConnectError: …", "Error executing tool search: …",
# "Traceback (most recent call last):", "<tool_use_error>…", "fatal: not a repository".
_ERROR_OPENING = re.compile(
    r"\W*(?:<\w*error\w*>|traceback \(most recent|[\w.]*(?:error|exception|failure)\b[^\n:]{0,60}:"
    r"|(?:[\w.]+ ){0,2}(?:error|exception)\b[^\n:]{0,60}:|(?:fatal|failed)\b[^\n:]{0,60}:)",
    re.IGNORECASE,
)
# "No good search result was found", "could not find it", "404 Not Found", "the request timed out".
_MESSAGE = re.compile(
    r"\b(?:no|0|zero|nothing)\b.{0,60}\b(?:found|match(?:es|ed|ing)?|results?|returned)\b"
    r"|\bnot (?:be )?(?:found|located|retrieved|reached)\b|\bno such\b"
    r"|\bdo(?:es)?(?: ?no|n['\u2019]?)t exist\b"
    r"|\b(?:could|can|did)(?: ?no|n['\u2019]?)t (?:be )?(?:find|found|locate|retrieve|fetch|search"
    r"|match|access|connect|reach|load|read|open)"
    r"|\b(?:unable|failed) to\b|\b(?:an|internal|unexpected|unknown) error\b"
    r"|\btimed out\b|\bquota exceeded\b"
    r"|\bconnection (?:refused|reset|closed|failed)\b|\b(?:permission|access) denied\b"
    r"|\brate limit(?:ed| exceeded)\b|\btoo many requests\b|\bunauthori[sz]ed\b"
    r"|\b(?:service|temporarily) unavailable\b|\binternal server error\b|\bbad gateway\b",
    re.IGNORECASE | re.DOTALL,
)
# "<results/>", "<results>\n</results>", '<?xml version="1.0"?><r><hits count="0"/></r>'.
_EMPTY_ELEMENT = re.compile(
    r"(?:<\?[^<>]*\?>\s*)?(?:</?[\w:.-]+(?:\s+(?:count|total|hits)=[\"']0[\"'])*\s*/?>\s*)+"
)
# "```json\n[]\n```".
_FENCED = re.compile(r"```[\w-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)


class Wordings(Struct, frozen=True):
    """The texts that mean "nothing found": those given, and ours unless they are replaced."""

    added: frozenset[str] = frozenset()
    replaced: bool = False

    @classmethod
    def of(cls, texts: list[str], replaced: bool = False) -> Wordings:
        """The wordings from the texts of a spec."""
        return cls(frozenset(map(_plain, texts)) - {""}, replaced)

    def mean_nothing(self, text: str) -> bool:
        """Whether the whole text says that nothing was found."""
        if len(text) > _LONGEST_MESSAGE:
            return False
        plain = _plain(text)
        if plain in self.added or not text.strip():
            return True
        if self.replaced:
            return False
        return not plain or plain in _EMPTY_WORDS or _NOTHING.fullmatch(plain) is not None

    def problem_of(self, text: str, alone: bool = True) -> str:
        """Why a text cannot be taken for a document; "" if it can.

        `alone`: it is all that the search returned, so it may be a message of the tool.
        """
        stripped = text.strip()
        if _ERROR_OPENING.match(stripped[:_OPENING]):
            return f"reads like an error: {excerpt(stripped)}"
        if not alone or self.replaced or len(stripped) > _LONGEST_MESSAGE:
            return ""
        if _MESSAGE.search(stripped):
            return f"reads like a message and not like a document: {excerpt(stripped)}"
        return ""

    def doubt_about(self, text: str) -> str:
        """Why a text alone may be no result at all; "" if it is long enough to be one.

        A few words say "nothing found" in any language and wording as often as they are a result:
        "Keine Ergebnisse gefunden.", "(0 rows)", "Loading...", "timeout".
        """
        short = len(text) < _SHORT and len(_WORD.findall(text)) < _FEWEST_WORDS
        if self.replaced or not short:
            return ""
        return (
            f"is too short to tell a result from a message: {excerpt(text)}; "
            "return a list of results, or name the texts that mean nothing found "
            "(`empty_markers: {replace: […]}`)"
        )


OURS = Wordings()


def _plain(text: str) -> str:
    """In lower case, with single spaces, without punctuation around it: "No results." """
    return " ".join(text.casefold().replace("_", " ").split()).strip(" .!\u2026:;,()[]<>{}*-\"'`")


def is_empty_element(text: str) -> bool:
    """Whether the text is XML without any content."""
    return text.startswith("<") and _EMPTY_ELEMENT.fullmatch(text) is not None


def decoded(text: str) -> Any:
    """The value that the text is JSON (also fenced, or one object a line) or a Python literal of.

    A text that is neither is returned as it is, without a fence around all of it.
    """
    stripped = text.strip()
    fenced = _FENCED.fullmatch(stripped)
    if fenced and "```" not in fenced[1]:
        stripped = fenced[1].strip()
    try:
        return msgspec.json.decode(stripped)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    if not stripped.startswith(("[", "{", "(")):
        return stripped
    try:
        return [msgspec.json.decode(line) for line in stripped.splitlines() if line.strip()]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _literal(stripped)


def _literal(text: str) -> Any:
    """What `str()` makes of a list or a dict: "{'results': []}"."""
    if len(text) > _LONGEST_LITERAL or not text.endswith(("]", "}", ")")):
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence"
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return text
    return value if isinstance(value, (list, dict, tuple)) else text
