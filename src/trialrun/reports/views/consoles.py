"""Lines of text in colour: a console that writes them to a string, with escape codes if wanted.

`rich` could do this too, and takes longer to import than bare Python takes to start.
"""

from __future__ import annotations

import io

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "magenta": "35",
    "cyan": "36",
}


class Text:
    """A text whose parts have styles, such as "bold red"; `style` applies to all of it."""

    def __init__(self, text: str = "", style: str = "") -> None:
        self._style = style
        self._parts = [(text, "")]

    @classmethod
    def assemble(cls, *parts: str | tuple[str, str]) -> Text:
        """A text of these parts, each alone or with its style."""
        made = cls()
        for part in parts:
            made.append(*((part,) if isinstance(part, str) else part))
        return made

    def append(self, text: str, style: str = "") -> None:
        """Add a part at the end."""
        self._parts.append((text, style))

    def append_from(self, other: Text, start: int) -> None:
        """Add the parts of another text, without its first `start` characters."""
        for text, style in other._parts:
            self._parts.append((text[start:], f"{other._style} {style}".strip()))
            start = max(0, start - len(text))

    def rstrip(self) -> None:
        """Remove the spaces at the end."""
        while self._parts and not self._parts[-1][0].rstrip():
            self._parts.pop()
        if self._parts:
            text, style = self._parts[-1]
            self._parts[-1] = (text.rstrip(), style)

    @property
    def plain(self) -> str:
        """The text without styles."""
        return "".join(text for text, _ in self._parts)

    @property
    def coloured(self) -> str:
        """The text with escape codes around each part that has a style."""
        return "".join(_coloured(text, f"{self._style} {style}") for text, style in self._parts)


def _coloured(text: str, style: str) -> str:
    codes = ";".join(_CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


class Console:
    """Writes lines to a string."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour
        self.out = io.StringIO()

    def print(self, line: str | Text = "", style: str = "") -> None:
        """Write a line."""
        text = Text(line, style) if isinstance(line, str) else line
        self.out.write((text.coloured if self._colour else text.plain) + "\n")


def text_console(colour: bool) -> tuple[Console, io.StringIO]:
    """A console, and the buffer that it writes to."""
    console = Console(colour)
    return console, console.out
