"""What was printed or written, made fit for patterns: no colours, no endless lines or blanks."""

from __future__ import annotations

import re

LONGEST_OUTPUT = 100_000
"""Of a longer output, its beginning and its end are read: summaries stand at the end."""

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n){2,}")
_MOST_BLANKS = 40
_BLANKS = re.compile(rf"[^\S\n]{{{_MOST_BLANKS + 1},}}")
_LONGEST_LINE = 2000
_LONG_LINE = re.compile(rf"^[^\n]{{{_LONGEST_LINE},}}", re.MULTILINE)
"""A line this long is no summary; cut, it cannot slow down any pattern."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def squeezed(text: str) -> str:
    """The text without more blanks or blank lines in a row than mean anything.

    Patterns that look for words between blanks try every one of them. Forty still set cells of a
    table apart and still mark code by its indentation, so that no ordinary text is changed.
    """
    text = _BLANKS.sub(lambda found: found.group()[:_MOST_BLANKS], text)
    return _BLANK_LINES.sub("\n\n", text)


def readable(output: str) -> str:
    """The output without colours, and not longer than can be read quickly."""
    if len(output) > LONGEST_OUTPUT:
        half = LONGEST_OUTPUT // 2
        output = output[:half] + "\n" + output[-half:]
    # Blank lines come last: only without colours and returns is it plain which lines are blank.
    if "\x1b" in output:
        output = _ANSI.sub("", output)
    if "\r" in output:
        output = output.replace("\r\n", "\n").replace("\r", "\n")
    if _may_have_long_line(output):
        output = _LONG_LINE.sub(
            lambda found: found.group()[:500] + " … " + found.group()[-500:], output
        )
    return _BLANK_LINES.sub("\n\n", output) if "\n" in output else output


def _may_have_long_line(output: str) -> bool:
    """A long line goes through the whole of one of the pieces that are half as long."""
    size = _LONGEST_LINE // 2
    pieces = range(0, len(output) - size + 1, size)
    return bool(pieces) and any(output.find("\n", start, start + size) < 0 for start in pieces)
