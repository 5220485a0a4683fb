"""The words of a shell script as programs get them: quotes, escapes, variables, redirections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trialrun.util.lazy_patterns import lazy_pattern

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_VALUE = 1_000
"""Of a variable: `A=$A$A` sixty times over would fill every memory."""

MOST_VALUES = 100
"""Of variables, in one word."""

_INTO_NO_FILE = frozenset({"2>&1", ">&2", "1>&2", ">/dev/null", "2>/dev/null", "&>/dev/null"})


class Words:
    """Reads words of one script, and keeps the variables whose value the script itself sets."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.values: dict[str, str] = {}

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte]

    def filled_in(self, text: str) -> str:
        """The text with the variables whose value is known; the others stand as written."""
        if not self.values or not 0 < text.count("$") <= MOST_VALUES:
            return text
        return _VARIABLE.sub(lambda found: self.values.get(found[1] or found[2], found[0]), text)

    def assign(self, node: Node, certain: bool) -> None:
        """`DIR=api`: what `$DIR` stands for further on, where that can be known."""
        several = node.type in ("variable_assignments", "declaration_command")
        for one in node.children if several else [node]:
            name = one.child_by_field_name("name") if one.type == "variable_assignment" else None
            value = one.child_by_field_name("value") if name is not None else None
            if name is None:
                continue
            text = self.word(value) if value is not None else ""
            appends = self.text(one).startswith(f"{self.text(name)}+=")
            if len(text) > LONGEST_VALUE or set(text) & OPEN or appends or not certain:
                self.values.pop(self.text(name), None)
            else:
                self.values[self.text(name)] = text

    def redirections(self, nodes: Sequence[Node]) -> tuple[list[str], list[str], str | None]:
        writes: list[str] = []
        reads: list[str] = []
        stdin = None
        for node in nodes:
            if self.text(node) in _INTO_NO_FILE:
                continue
            if node.type == "heredoc_redirect":
                bodies = [child for child in node.children if child.type == "heredoc_body"]
                stdin = "".join(self.text(body) for body in bodies)
                for inner in node.children:
                    if inner.type == "file_redirect":
                        more, fed, _ = self.redirections([inner])
                        writes, reads = writes + more, reads + fed
            elif node.type == "herestring_redirect":
                stdin = self.word(node.children[-1])
            else:
                signs = [child.type for child in node.children if not child.is_named]
                sign = signs[0] if signs else ""
                targets = [
                    self.word(child)
                    for child in node.children
                    if child.is_named and child.type != "file_descriptor"
                ]
                files = [one for one in targets[:1] if not one.isdigit() and one != "-"]
                if sign in (">", ">>", "&>", "&>>", ">|", ">&"):
                    writes += [one for one in files if not one.startswith("/dev/")]
                elif sign == "<":
                    reads += files
        return writes, reads, stdin

    def word(self, node: Node) -> str:
        """The word as the program gets it; what the shell would put in stands as written."""
        text = self.source[node.start_byte : node.end_byte]
        if text.isalnum():
            return text  # nothing in it that the shell would read
        kind = node.type
        if kind == "word":
            return _unescaped(text, None) if "\\" in text and not _WINDOWS.match(text) else text
        if kind == "raw_string":
            return text[1:-1]
        if kind == "ansi_c_string":
            return text[2:-1].replace("\\n", "\n").replace("\\'", "'")
        if kind == "string":
            text = self.filled_in(text[1:-1])
            return _unescaped(text, '"\\$`\n') if "\\" in text else text
        if kind == "concatenation" and len(node.children) <= MOST_VALUES:
            return "".join(self.word(child) for child in node.children)
        if kind == "command_name" and node.children:
            return self.word(node.children[0])
        return self.filled_in(text)


OPEN = frozenset("$`*?[{")  # in a word that has one of these the shell puts something else
_VARIABLE = lazy_pattern(r"\$(?:\{(\w+)\}|(\w+))")
# `cd D:\\proj` of PowerShell: what looks like an escape is a folder.
_WINDOWS = lazy_pattern(r"[A-Za-z]:\\|\.\.?\\")


def _unescaped(text: str, only: str | None) -> str:
    """Without the backslashes that the shell takes away: before these signs, or before any."""
    parts = []
    index = 0
    while index < len(text):
        if (
            text[index] == "\\"
            and index + 1 < len(text)
            and (only is None or text[index + 1] in only)
        ):
            index += 1
            if text[index] != "\n":
                parts.append(text[index])
        else:
            parts.append(text[index])
        index += 1
    return "".join(parts)
