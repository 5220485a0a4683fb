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


class LineRange:
    """The lines that begin between two places of a stream, as a stream that has only `readline`.

    A line belongs to the part in which it begins, and is read to its end: every line of a file
    belongs to exactly one part. `lines` counts them. A part that lies inside one long line ends
    where it ends, without reading on.
    """

    def __init__(self, stream: IO[bytes], start: int, end: int) -> None:
        self._stream = stream
        self._at = start
        self._end = end
        self._is_at_start = True
        self.lines = 0
        stream.seek(start)
        if start:
            stream.seek(start - 1)
            self._at -= 1
            while self._at < end:
                skipped = stream.readline(min(_CHUNK, end - self._at))
                self._at += len(skipped)
                if skipped.endswith(b"\n") or not skipped:
                    break

    def readline(self, most: int = -1) -> bytes:
        """The next line, or as much of it; empty where the next line begins in another part."""
        if self._is_at_start and self._at >= self._end:
            return b""
        line = self._stream.readline(most)
        self._at += len(line)
        self.lines += self._is_at_start and bool(line)
        self._is_at_start = line.endswith(b"\n")
        return line
