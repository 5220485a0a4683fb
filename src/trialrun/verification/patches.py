"""Which files a patch changes: unified diffs, and the form that Codex writes."""

from __future__ import annotations

import re

_UNIFIED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+)", re.MULTILINE)
_CODEX = re.compile(r"^\*\*\* (?:(Update|Add|Delete) File|(Move) to): (.+)$", re.MULTILINE)


def patched_files(text: str) -> list[str]:
    """The files that the patch names, each once, in order."""
    names = [match.group(3).strip() for match in _CODEX.finditer(text)]
    if not names:
        names = [name.strip() for name in _UNIFIED.findall(text)]
    return list(dict.fromkeys(name for name in names if name != "/dev/null"))
