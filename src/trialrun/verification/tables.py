"""Reads the tables of `catalogue/`: words by table, and patterns by their parts with examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.marks import Marked

CATALOGUE = Path(__file__).with_name("catalogue")
PATTERNS = ("patterns.txt", "output_patterns.txt", "text_patterns.txt")


class Row(Struct, frozen=True):
    """A pattern: its alternatives, the examples of each, its flags and its marks."""

    parts: tuple[str, ...]
    examples: tuple[tuple[str, ...], ...]
    flags: int
    marks: tuple[str, ...]


def lines_of(file: str) -> Iterator[str]:
    """The lines of a file of the catalogue that are no comments."""
    lines = (CATALOGUE / file).read_text(encoding="utf-8").splitlines()
    return (line for line in lines if line and not line.startswith("#"))


@cache
def _tables() -> dict[str, tuple[str, ...]]:
    """Every table of words. Where a table has a `;`, these part its words."""
    texts: dict[str, str] = {}
    name = ""
    for line in lines_of("words.txt"):
        if line.startswith(" "):
            texts[name] += line
        else:
            name, _, texts[line.partition(": ")[0]] = line.partition(": ")
    return {name: tuple(text.split(";" if ";" in text else None)) for name, text in texts.items()}


def words(name: str) -> tuple[str, ...]:
    """The words of a table, in order."""
    return tuple(word.strip() for word in _tables()[name])


def group(name: str) -> dict[str, tuple[str, ...]]:
    """The tables whose names begin with this one, by the rest: `tool read`, `tool edit`."""
    begin = f"{name} "
    return {one.removeprefix(begin): words(one) for one in _tables() if one.startswith(begin)}


@cache
def rows() -> dict[str, Row]:
    """Every pattern by its name."""
    found: dict[str, Row] = {}
    for file in PATTERNS:
        text = "\n".join(lines_of(file))
        for section in re.split(r"\n(?! )", text):
            heading, *lines = re.sub(r"\n      +", "", section).split("\n")
            given = _HEADING.match(heading)
            assert given is not None, heading
            flags = sum({"i": re.I, "m": re.M}[letter] for letter in given["flags"] or "")
            about, _, example = given["rest"].partition(" = ")
            lines = [f"    = {example}", *lines] if example else lines
            marks = [about, *(line for line in lines if line.startswith("    ! "))]
            named = tuple(_unescaped(one) for one in re.findall(r'"([^"]+)"', " ".join(marks)))
            found[given["name"]] = Row(*_parts(lines, found), flags, named)
    return found


# "summary maven (m): Maven, JUnit"
_HEADING = lazy_pattern(r"(?P<name>[\w -]+?)(?: \((?P<flags>[im]+)\))?:(?P<rest>.*)")


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("␣", " ")


def _parts(
    lines: list[str], known: dict[str, Row]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The alternatives, and the examples in front of each."""
    found: list[str] = []
    examples: list[tuple[str, ...]] = []
    above: list[str] = []
    for line in lines:
        if line.startswith("    = "):
            above.append(_unescaped(line[6:]))
        elif not line.startswith("    ! "):
            found.append(_filled(line.strip(), known))
            examples.append(tuple(above))
            above = []
    return tuple(found), tuple(examples)


def _filled(text: str, known: dict[str, Row]) -> str:
    """With the patterns and tables put in that it names: `{{people}}`."""
    return re.sub(
        r"\{\{(\w+)\}\}",
        lambda found: (
            f"(?:{'|'.join(known[found[1]].parts if found[1] in known else words(found[1]))})"
        ),
        text,
    )


@cache
def pattern(name: str) -> re.Pattern[str]:
    """The pattern of that name: its alternatives as one."""
    return lazy_pattern("|".join(rows()[name].parts), rows()[name].flags)


def marked(name: str) -> Marked:
    """The pattern of that name behind its marks."""
    row = rows()[name]
    return Marked(row.marks, "|".join(row.parts), row.flags)
