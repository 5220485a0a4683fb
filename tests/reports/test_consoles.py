"""Lines in colour."""

from __future__ import annotations

from trialrun.reports.views.consoles import Text, text_console


def test_parts_have_codes_only_with_colour() -> None:
    line = Text.assemble("a ", ("b", "bold red"), " c")
    for colour, expected in ((False, "a b c\n"), (True, "a \x1b[1;31mb\x1b[0m c\n")):
        console, out = text_console(colour)
        console.print(line)
        assert out.getvalue() == expected


def test_the_style_of_a_text_applies_to_all_of_it() -> None:
    line = Text("2 cases: ", style="bold")
    line.append("1 passed", style="green")
    assert line.coloured == "\x1b[1m2 cases: \x1b[0m\x1b[1;32m1 passed\x1b[0m"
    assert line.plain == "2 cases: 1 passed"


def test_an_empty_part_has_no_code() -> None:
    assert Text("", "red").coloured == ""
    console, out = text_console(True)
    console.print()
    console.print("x", style="dim")
    assert out.getvalue() == "\n\x1b[2mx\x1b[0m\n"


def test_spaces_at_the_end_are_removed_across_parts() -> None:
    line = Text.assemble("a  ", ("  ", "red"), "")
    line.rstrip()
    assert line.plain == "a"
    blank = Text("  ")
    blank.rstrip()
    assert blank.plain == ""


def test_a_text_is_taken_from_a_place_on() -> None:
    other = Text.assemble("    ", ("  failed", "red"), ": x")
    line = Text("#1")
    line.append_from(other, 6)
    assert line.plain == "#1failed: x"
    assert line.coloured == "#1\x1b[31mfailed\x1b[0m: x"
