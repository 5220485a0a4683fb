"""Lines of reports: written without rich as rich writes them, and cut like texts."""

import io

import pytest

from trialrun.reports.views.consoles import Console, Line, _rich_console, columns, padded

LINES = [
    Line(),
    Line("plain"),
    Line.of("  ", ("PASS", "green"), "  a case  ", ("dim part", "dim")),
    Line("[bold]no markup[/] :smile: 'quoted' 42"),
    Line("x" * 300, "bold"),
    Line("ends with spaces   "),
    Line("\u5831\u544a \U0001f389 caf\u00e9"),
    Line("two\nlines"),
]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_a_line_without_colour_is_what_rich_writes(line):
    ours, theirs = Console(colour=False), io.StringIO()
    ours.print(line)
    _rich_console(theirs, False, None).print(line.as_rich())
    assert ours.out.getvalue() == theirs.getvalue()


def test_colour_and_width_are_applied():
    coloured, narrow = Console(colour=True), Console(colour=False, width=40)
    coloured.print(Line("red", "red"))
    narrow.print("  word" * 12)
    assert coloured.out.getvalue() == "\x1b[31mred\x1b[0m\n"
    assert max(map(len, narrow.out.getvalue().splitlines())) <= 40


@pytest.mark.parametrize(
    "part", [slice(None, None), slice(2, None), slice(None, 3), slice(1, 5), slice(7, 99)]
)
def test_a_line_is_cut_like_its_text(part):
    line = Line.of("abc", ("defg", "bold"), "h")
    assert (line[part].plain, len(line)) == ("abcdefgh"[part], 8)
    assert (line + line)[part].plain == ("abcdefgh" * 2)[part]


def test_the_end_of_a_line_is_stripped_over_its_pieces():
    line = Line.of("a ", ("b  ", "dim"), "  ", "")
    line.rstrip()
    assert line.plain == "a b"
    blank = Line(" ")
    blank.rstrip()
    assert blank.plain == ""


def test_columns_count_wide_characters_twice():
    assert (columns("ab"), columns("\u5831\u544a"), padded("\u5831", 4)) == (2, 4, "\u5831  ")
