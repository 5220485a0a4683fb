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
    looks = changes = open_changes = within = False
    for statement in plain.split(";"):
        word = _WORD.search(statement.strip())
        if word is None:
            continue
        verb = word.group().lower()
        if verb in ("begin", "start"):
            within = True
        elif verb in ("commit", "end"):
            changes, open_changes, within = changes or open_changes, False, False
        elif verb == "rollback" and not re.search(r"\bto\b", statement, re.IGNORECASE):
            open_changes = within = False  # as if it had never been said
        elif verb in _CHANGES or (
            verb == "with" and re.search(r"\b(?:update|insert|delete)\b", statement, re.IGNORECASE)
        ):
            changes, open_changes = changes or not within, open_changes or within
        elif verb in _LOOKS or verb.startswith("\\"):
            looks = True
    if changes or open_changes:
        return "changes", tables
    return ("looks" if looks else None), tables


_COLLECTION = re.compile(r"\bdb\.(?:getCollection\(['\"])?([A-Za-z_]\w*)")
_DOCUMENT_CHANGES = re.compile(
    r"\.(?:deleteMany|deleteOne|updateMany|updateOne|insertMany|insertOne|insert|update|remove|drop|dropDatabase|replaceOne|findOneAnd\w+|findAndModify|createIndex\w*|dropIndex\w*|renameCollection|bulkWrite|save|createCollection|createUser)\s*\("
)
_DOCUMENT_LOOKS = re.compile(
    r"\.(?:find|findOne|count\w*|estimatedDocumentCount|aggregate|distinct|stats|getIndexes|explain)\s*\(|^\s*show "
)


def document_kind(text: str) -> tuple[str | None, frozenset[str]]:
    """The same of a script for MongoDB, and the collections named."""
    names = frozenset(name.lower() for name in _COLLECTION.findall(text[:20_000]))
    if _DOCUMENT_CHANGES.search(text[:20_000]):
        return "changes", names
    return ("looks" if _DOCUMENT_LOOKS.search(text[:20_000]) else None), names
