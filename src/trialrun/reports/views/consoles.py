"""A rich console that writes to a string, with escape codes for colour only if wanted."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def wants_colour(is_terminal: bool) -> bool:
    """Colour on a terminal, unless NO_COLOR or CI says otherwise."""
    return is_terminal and not os.environ.get("NO_COLOR") and not os.environ.get("CI")


def text_console(colour: bool, width: int | None = None) -> tuple[Console, io.StringIO]:
    """A console, and the buffer that it writes to."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        width=width,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    return console, out
