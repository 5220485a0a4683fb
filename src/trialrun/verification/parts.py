"""Whether a look at a part of a file showed the part that was changed.

Asked only where the changed text is known and long enough to be found again: a look is refused for
what it did show, never for want of a text to compare it with.
"""

from __future__ import annotations

import re

from msgspec import Struct

SHORTEST_LINE = 4
SHORTEST_TEXT = 6
MOST_LINES = 40
"""Of a long text so many lines are looked for, from its beginning and its end."""

MOST_PENDING = 20
_PIECES = re.compile(r"\n|\[?\.\.\.\]?|…")  # a text that somebody has shortened is known in pieces
_TOKEN = re.compile(r"[A-Za-z_]\w{3,}")


class Text(Struct, frozen=True):
    """What an edit put in, and what it took out."""

    new: str
    old: str = ""


def is_known(text: Text) -> bool:
    """Whether it says enough to be found again."""
    return len("".join(text.new.split())) >= SHORTEST_TEXT and bool(_lines(text))


def _lines(text: Text) -> list[str]:
    before = set(_packed(text.old))
    found = [line for line in _packed(text.new) if len(line) >= SHORTEST_LINE]
    fresh = [line for line in found if line not in before] or found
    half = MOST_LINES // 2
    return fresh if len(fresh) <= MOST_LINES else fresh[:half] + fresh[-half:]


def _packed(text: str) -> list[str]:
    """Its lines without blanks, and without the signs that a patch puts in front of them."""
    return ["".join(line.lstrip("+-").split()) for line in _PIECES.split(text)]


def was_shown(text: Text, output: str) -> bool:
    """Whether any line that was put in stands in what was printed."""
    packed = "".join(output.split())
    return any(line in packed for line in _lines(text))


def is_undone(text: Text, output: str) -> bool:
    """Whether a look at the whole file shows what was taken out, and nothing of what was put in."""
    new, packed = set(_packed(text.new)), "".join(output.split())
    gone = [line for line in _packed(text.old) if len(line) >= SHORTEST_TEXT and line not in new]
    return bool(gone) and all(line in packed for line in gone) and not was_shown(text, output)


def was_found(text: Text, output: str, pattern: str) -> bool:
    """Whether a search of the file had to do with what was put in or taken out."""
    if not output.strip():
        return True  # no hits, and that says something about the whole file
    both = f"{text.new}\n{text.old}"
    if pattern and pattern.lower() in both.lower():
        return True
    words = set(_TOKEN.findall(both[:20_000]))
    return not words.isdisjoint(_TOKEN.findall(f"{output[:20_000]}\n{pattern}"))
