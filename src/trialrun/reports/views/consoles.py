"""Lines of a report with styles, and a console that writes them to a string.

Colours and wrapping are made by rich. Importing it takes twice as long as starting bare Python, so
it is imported only where there is a colour or a width: not for a file, a pipe or a CI log.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console as RichConsole
    from rich.text import Text

_NARROWEST = 40


class Line:
    """A line of a report: pieces of text, each with a style such as `bold red`, or none."""

    __slots__ = ("_pieces",)

    def __init__(self, text: str = "", style: str = "") -> None:
        self._pieces = [(text, style)]

    @classmethod
    def of(cls, *pieces: str | tuple[str, str]) -> Line:
        """A line of these pieces: texts, or texts with their styles."""
        line = cls()
        for piece in pieces:
            line.append(*((piece,) if isinstance(piece, str) else piece))
        return line

    @property
    def plain(self) -> str:
        """The text without styles."""
        return "".join([text for text, _ in self._pieces])

    def append(self, text: str, style: str = "") -> Line:
        """Add a piece; the line itself."""
        self._pieces.append((text, style))
        return self

    def rstrip(self) -> None:
        """Remove white space at the end."""
        while self._pieces and not self._pieces[-1][0].rstrip():
            self._pieces.pop()
        if self._pieces:
            text, style = self._pieces[-1]
            self._pieces[-1] = text.rstrip(), style

    def __len__(self) -> int:
        return sum(len(text) for text, _ in self._pieces)

    def __getitem__(self, part: slice) -> Line:
        start, stop, _ = part.indices(len(self))
        cut = Line()
        for text, style in self._pieces:
            cut.append(text[max(0, start) : max(0, stop)], style)
            start, stop = start - len(text), stop - len(text)
        return cut

    def __add__(self, other: Line) -> Line:
        return Line.of(*self._pieces, *other._pieces)

    def as_rich(self) -> Text:
        """The line for rich."""
        from rich.text import Text

        return Text.assemble(*(piece for piece in self._pieces if piece[0]))


class Console:
    """Writes lines to `out`; without a width, lines are never broken."""

    def __init__(self, colour: bool, width: int | None = None) -> None:
        self.out = io.StringIO()
        self.width = width
        self._rich = _rich_console(self.out, colour, width) if colour or width else None

    def print(self, line: Line | str = "", style: str = "") -> None:
        """Print a line; one that is wider goes on in further lines, indented a little more."""
        line = Line(line, style) if isinstance(line, str) else line
        if self._rich is None:
            self.out.write(f"{line.plain}\n")
        elif self.width is None:
            self._rich.print(line.as_rich())
        else:
            for whole in line.as_rich().split("\n"):
                for part in _wrapped(self._rich, whole, self.width):
                    self._rich.print(part, soft_wrap=True)


def wants_colour(is_terminal: bool) -> bool:
    """Colour on a terminal, unless NO_COLOR or CI says otherwise."""
    return is_terminal and not os.environ.get("NO_COLOR") and not os.environ.get("CI")


def _rich_console(out: io.StringIO, colour: bool, width: int | None) -> RichConsole:
    from rich.console import Console as RichConsole

    return RichConsole(
        file=out,
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        width=width,
        soft_wrap=width is None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )


def terminal_width(is_terminal: bool) -> int | None:
    """The columns of the terminal, or as COLUMNS says; None elsewhere.

    Lines in a file or a pipe are not broken: programs such as grep read them.
    """
    if not is_terminal:
        return None
    import shutil

    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def _wrapped(console: RichConsole, line: Text, width: int) -> list[Text]:
    if line.cell_len <= width:
        return [line]
    # A further line begins with more spaces than the first: it cannot look like one of its own.
    indent = len(line.plain) - len(line.plain.lstrip())
    parts = list(line[indent:].wrap(console, width - indent - 2))
    for number, part in enumerate(parts):
        part.rstrip()
        part.pad_left(indent + 2 * (number > 0))
    return parts


def columns(text: str) -> int:
    """How many columns the text takes: some characters take two."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """The text, with spaces up to this many columns."""
    return text + " " * max(0, width - columns(text))
