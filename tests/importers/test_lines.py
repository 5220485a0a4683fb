"""Parts of a file of lines: each line belongs to exactly one of them."""

from __future__ import annotations

from io import BytesIO

import pytest

from trialrun.importers._lines import LineRange, lines_in

TEXTS = [
    b"",
    b"\n",
    b"a",
    b"a\nbb\n\nccc\ndddd",
    b"a\r\nbb\r\n",
    b"x" * 40 + b"\ny\n" + b"z" * 17,
    b"\n\n\na\n\n",
]


class Counting(BytesIO):
    """Counts the bytes that are read."""

    read_bytes = 0

    def readline(self, most=-1):
        line = super().readline(most)
        self.read_bytes += len(line)
        return line


def parts(text, size):
    return [(at, min(at + size, len(text))) for at in range(0, len(text), size)]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 16, 100])
def test_each_line_is_in_one_part(text, size):
    found, numbers, before = [], [], 0
    for start, end in parts(text, size):
        lines = LineRange(BytesIO(text), start, end)
        for number, line in lines_in(lines, "t"):
            found.append(line)
            numbers.append(before + number)
        before += lines.lines
    assert [(number, line) for number, line in zip(numbers, found, strict=True)] == list(
        lines_in(BytesIO(text), "t")
    )


def test_a_part_inside_a_long_line_does_not_read_to_its_end():
    stream = Counting(b"x" * 1000 + b"\nlast\n")
    assert list(lines_in(LineRange(stream, 300, 400), "t")) == []
    assert stream.read_bytes <= 101
