"""Whether SQL looks or changes, and which tables it names."""

from __future__ import annotations

import re

_LOOKS = frozenset(
    "select show describe desc explain with values table pragma \\d \\dt \\di \\l".split()
)
_CHANGES = frozenset(
    "update insert delete alter create drop truncate merge replace grant revoke rename copy vacuum reindex call do".split()
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"\\?[A-Za-z]+")
_TABLE = re.compile(
    r"\b(?:from|into|update|table|join|on|truncate|\\d\+?)\s+(?:if\s+(?:not\s+)?exists\s+|only\s+)?[\"'`\[]?([A-Za-z_][\w.]*)",
    re.IGNORECASE,
)


def statement_kind(text: str) -> tuple[str | None, frozenset[str]]:
    """`changes` or `looks` (None: neither), and the tables named."""
    plain = _COMMENT.sub(" ", text[:20_000])
    tables = frozenset(name.lower() for name in _TABLE.findall(plain))
    found = None
    for statement in plain.split(";"):
        word = _WORD.search(statement.strip())
        if word is None:
            continue
        verb = word.group().lower()
        if verb in _CHANGES or (
            verb == "with" and re.search(r"\b(?:update|insert|delete)\b", statement, re.IGNORECASE)
        ):
            return "changes", tables
        if verb in _LOOKS or verb.startswith("\\"):
            found = "looks"
    return found, tables
