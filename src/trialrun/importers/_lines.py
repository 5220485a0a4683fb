"""Read files with one record per line; a line that is too long is skipped, not loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from trialrun.errors import Problem

MAX_BYTES = 64 * 1024 * 1024
"""The largest record that is read."""

TOO_LONG = f"longer than {MAX_BYTES // 1024**2} MiB, the most that is read as one trace"

_CHUNK = 1024 * 1024

Line = tuple[int, bytes | Problem]


def lines_in(stream: IO[bytes], name: str) -> Iterator[Line]:
    """The non-blank lines of a stream; `name` is for the message about a line that is too long."""
    number = 0
    while line := stream.readline(MAX_BYTES + 1):
        number += 1
        if len(line) > MAX_BYTES and not line.endswith(b"\n"):
            del line
            _skip(stream)
            yield number, Problem(TOO_LONG, file=name, line=number)
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line and not line.isspace():
            yield number, line.rstrip(b"\r\n")


def _skip(stream: IO[bytes]) -> None:
    while chunk := stream.readline(_CHUNK):
        if chunk.endswith(b"\n"):
            return
