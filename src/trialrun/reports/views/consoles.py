"""A rich console that writes to a string, with escape codes for colour only if wanted."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_NARROWEST = 40


def wants_colour(is_terminal: bool) -> bool:
    """Colour on a terminal, unless NO_COLOR or CI says otherwise."""
    return is_terminal and not os.environ.get("NO_COLOR") and not os.environ.get("CI")


def text_console(colour: bool, width: int | None = None) -> tuple[Console, io.StringIO]:
    """A console, and the buffer that it writes to; without a width, lines are never broken."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(
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
    return console, out


def terminal_width(is_terminal: bool) -> int | None:
    """The columns of the terminal, or as COLUMNS says; None elsewhere.

    Lines in a file or a pipe are not broken: programs such as grep read them.
    """
    if not is_terminal:
        return None
    import shutil

    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def print_line(console: Console, text: Text | str, style: str = "") -> None:
    """Print a line; one that is wider goes on in further lines, indented a little more."""
    from rich.text import Text

    line = Text(text, style) if isinstance(text, str) else text
    if console.soft_wrap:
        console.print(line)
        return
    for whole in line.split("\n"):
        for part in _wrapped(console, whole, console.width):
            console.print(part, soft_wrap=True)


def _wrapped(console: Console, line: Text, width: int) -> list[Text]:
    if line.cell_len <= width:
        return [line]
    # A further line begins with more spaces than the first: it cannot look like one of its own.
    indent = len(line.plain) - len(line.plain.lstrip())
    parts = list(line[indent:].wrap(console, width - indent - 2))
    for number, part in enumerate(parts):
        part.rstrip()
        part.pad_left(indent + 2 * (number > 0))
    return parts


def padded(text: str, width: int) -> str:
    """The text, with spaces up to this many columns: some characters take two."""
    from rich.cells import cell_len

    return text + " " * max(0, width - cell_len(text))
