"""A shell command as a list of programs, each with its folder and what hides its status.

Parsed, not searched: `echo "pytest"` runs no test, and `pytest || true` says nothing by its exit
status. tree-sitter reads broken input too; a script with an error in it is read as far as it goes,
and nothing in it is taken to have succeeded.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.shell_data import Command, Line, Script
from trialrun.verification.shell_walk import Walk

if TYPE_CHECKING:
    from tree_sitter import Parser

__all__ = ["Command", "Line", "Script", "parse"]

LONGEST_SCRIPT = 200_000
"""Characters of a script that are parsed; a longer one is data that was piped in."""

MOST_SIGNS = 3_000
"""A script has few of these, and the parser takes the square of their number."""


def parse(text: str, folder: str | None = "") -> Script:
    """The programs that the script starts, beginning in that folder."""
    if len(text) > LONGEST_SCRIPT or _has_many_signs(text) or "\0" in text:
        return Script((), sound=False, folder=folder)
    # The grammar's scanner asks C's tables of letters about every character, and reads beyond them
    # for one that is not ASCII: the process dies. One stand-in for each keeps all places right.
    plain = text
    if not text.isascii():
        # Half a character (a lone surrogate) can be printed nowhere.
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        plain = _BEYOND_ASCII.sub("_", text)
    try:
        root = _parser().parse(plain.encode("ascii")).root_node
    except ValueError:  # the parser gave up
        return Script((), sound=False, folder=folder)
    walk = Walk(text, folder)
    commands = walk.statements(root.children, shown=True, depth=0)
    sound = not root.has_error
    if not sound:
        commands = [replace(command, shown=False) for command in commands]
    if walk.said:
        times = Counter(line.text for line in walk.said)
        # `go build && echo OK; echo OK`: a line that is printed elsewhere too tells nothing.
        commands = [
            replace(one, echoed=None) if times[one.echoed or ""] > 1 else one for one in commands
        ]
    return Script(tuple(commands), sound, walk.folder, tuple(walk.said))


_BEYOND_ASCII = lazy_pattern(r"[^\x00-\x7f]")


def _has_many_signs(text: str) -> bool:
    return len(text) > MOST_SIGNS and sum(text.count(sign) for sign in "|;&(") > MOST_SIGNS


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
