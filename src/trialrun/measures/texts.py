"""Text as it is compared."""

from __future__ import annotations

import unicodedata

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
    """The form in which terms are looked for: lower case, normalized first if that is asked."""
    return text.lower() if normalize is None else normalized(text).lower()


def excerpt(text: str, length: int = 80) -> str:
    """The text in quotes, on one line, cut to a readable length."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= length else f'"{line[: length - 1]}…"'


def counted(number: float, noun: str) -> str:
    """`1 tool call`, `2 tool calls`, `1,204 tokens`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
