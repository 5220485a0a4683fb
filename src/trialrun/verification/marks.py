"""Patterns that are tried only where they can match.

What a call printed is held against some hundred wordings, and most of it is a listing or a file
that has none of them. A pattern of many wordings tries each of them at each character; to look for
a few pieces of text, of which every wording has one, takes a hundredth of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator


class Marked:
    """A pattern and its marks: no match lacks them all, or a result would be overlooked.

    Where the pattern does not ask for upper or lower case, its marks stand in lower case.
    """

    __slots__ = ("folded", "marks", "pattern")

    def __init__(self, marks: Iterable[str], pattern: str, flags: int = re.MULTILINE) -> None:
        self.marks = tuple(marks)
        self.pattern = re.compile(pattern, flags)
        self.folded = bool(flags & re.IGNORECASE)

    def occurs(self, text: str) -> bool:
        """Whether the text has a mark, so that the pattern may match."""
        if self.folded:
            # `re` holds the i with no dot, and the I with one, for an i as well.
            text = text.casefold()
            text = text if text.isascii() else text.replace("ı", "i").replace("i\u0307", "i")
        for mark in self.marks:  # noqa: SIM110 (a generator takes twice as long over short texts)
            if mark in text:
                return True
        return False

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if self.occurs(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text) if self.occurs(text) else iter(())
