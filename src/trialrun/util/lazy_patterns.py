"""Regular expressions that are compiled when they are first used, not when they are imported.

Compiling takes up to a millisecond each, and most commands use a few of the hundreds.
"""

from __future__ import annotations

import re
from typing import Any, cast

_USED = (
    "search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split",
    "pattern", "flags", "groups", "groupindex",
)  # fmt: skip


class _LazyPattern:
    """Takes the place of a compiled pattern; its first use compiles it and copies its methods."""

    def __init__(self, text: str, flags: int) -> None:
        self._source = text, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _USED:  # such as `__deepcopy__`
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for used in _USED:
            setattr(self, used, getattr(compiled, used))
        return getattr(compiled, name)


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """The regular expression, compiled when it is first used."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))
