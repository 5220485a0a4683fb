"""Text helpers: normalize for comparison, shorten for display, find the nearest name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

_PLAIN = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201a": "'",
        "\u201b": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u201f": '"',
        "\u00a0": " ",
        "\u2007": " ",
        "\u202f": " ",
    }
)


def normalized(text: str) -> str:
    """NFKC, with curly quotes and non-breaking spaces made plain: for `normalize: unicode`."""
    return unicodedata.normalize("NFKC", text.translate(_PLAIN))


def comparable(text: str, normalize: str | None) -> str:
    """The form in which terms are searched: lower case, normalized first if `normalize` is set."""
    return text.lower() if normalize is None else normalized(text).lower()


def excerpt(text: str, length: int = 80) -> str:
    """The text in quotes, on one line, cut to a readable length."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= length else f'"{line[: length - 1]}…"'


def counted(number: float, noun: str) -> str:
    """`1 tool call`, `2 tool calls`, `1,204 tokens`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def nearest(name: str, choices: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The choice that was probably meant, or None if none is near enough."""
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(choices), n=1, cutoff=cutoff)
    return close[0] if close else None


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A hint to append to a message: the nearest choice, or all choices if there are few."""
    known = sorted(choices)
    meant = nearest(str(name)[:200], known)
    if meant is not None:
        return f"; did you mean `{meant}`?"
    return f"; known: {', '.join(known)}" if 0 < len(known) <= 16 else ""


_ESCAPED = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def shown(value: object) -> str:
    """A value as a person would write it in a spec, cut to a readable length."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f'"{value.translate(_ESCAPED)}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def short_repr(value: Any) -> str:
    """A custom object for a message, cut to 60 characters; its `__repr__` may raise."""
    try:
        return f"{value!r:.60}"
    except Exception:
        return f"something of the type {type(value).__name__}"
