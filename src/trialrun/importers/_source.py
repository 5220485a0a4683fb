"""A file to import: decompressed, its beginning to recognise it by, its content decoded once."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import msgspec

from trialrun.errors import Problem, TraceError, UsageError
from trialrun.importers import _parquet
from trialrun.importers._lines import MAX_BYTES, TOO_LONG, Line, lines_in
from trialrun.model.trace_format import TOO_DEEP, decode_plain, without_surrogates
from trialrun.util.files import reason

COMPRESSED = (".gz", ".zst")
"""Endings of compressed files: `session.jsonl.gz` is read as `session.jsonl`."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
MAGIC = (_GZIP, _ZSTD, _parquet.MAGIC)
"""How files begin that are not read as they are, whatever their names are."""

_START = 256 * 1024
_MOST_OBJECTS = 100


class NotJson:
    """The content of a file that is not one JSON document."""


NO_DOCUMENT = NotJson()


def plain_suffix(file: Path) -> str:
    """The ending without that of a compression, in lower case: `.jsonl` for `a.jsonl.gz`."""
    name = file.with_suffix("") if file.suffix.lower() in COMPRESSED else file
    return name.suffix.lower()


def decode_json(data: bytes) -> Any:
    """The value of a JSON text that another program wrote; TraceError if it is invalid.

    A key that is given twice has its last value: many writers do that, and read it so.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        value = decode_plain(data)
    try:
        return without_surrogates(value, [])
    except RecursionError:
        raise TraceError(TOO_DEEP) from None


def glued(line: bytes) -> list[bytes]:
    """The objects of a line that has several: its writer was stopped before the line break."""
    found: list[bytes] = []
    try:
        text, decoder, place = line.decode(), json.JSONDecoder(), 0
        while place < len(text):
            if text[place].isspace():
                place += 1
                continue
            value, end = decoder.raw_decode(text, place)
            if not isinstance(value, dict):
                return []
            found.append(text[place:end].encode())
            place = end
    except (ValueError, RecursionError):
        return []
    return found


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """The file, decompressed; UsageError if it cannot be opened, TraceError if it is damaged."""
    try:
        with file.open("rb") as raw:
            magic = raw.read(4)
        if magic.startswith(_GZIP):
            with gzip.open(file, "rb") as stream:
                yield stream  # type: ignore[misc]
        elif magic == _ZSTD:
            with _unpacked(file) as stream:
                yield stream
        elif magic == _parquet.MAGIC:
            with _parquet.lines_of(file) as stream:
                yield stream
        else:
            with file.open("rb") as stream:
                yield stream
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise TraceError(f"the compressed file is damaged: {error}") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {reason(error)}") from None


@contextmanager
def _unpacked(file: Path) -> Iterator[IO[bytes]]:
    import io

    module = zstd()
    try:
        with file.open("rb") as raw, module.ZstdDecompressor().stream_reader(raw) as stream:
            yield io.BufferedReader(stream)  # readline, which zstandard's own reader does not have
    except module.ZstdError as error:
        raise TraceError(f"the compressed file is damaged: {error}") from None


def zstd() -> Any:
    """The module that reads zstd; UsageError if it is not installed."""
    try:
        import zstandard
    except ImportError:
        raise UsageError("files compressed with zstd need: pip install '.[formats]'") from None
    return zstandard


class Source:
    """One file. Importers look at `first_line`, `objects` or `document` to recognise it."""

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self.path = path
        self._data = data

    @classmethod
    def of_bytes(cls, data: bytes, name: str) -> Source:
        """What a program wrote, read as if it were a file of this name."""
        return cls(Path(name), data)

    @classmethod
    def of_value(cls, value: Any, name: str) -> Source:
        """A plain value, read as if it were the document of a file of this name."""
        made = cls(Path(name), b"")
        made.__dict__["document"] = value
        return made

    def _opened(self) -> AbstractContextManager[IO[bytes]]:
        return opened(self.path) if self._data is None else BytesIO(self._data)

    def __str__(self) -> str:
        return str(self.path)

    @cached_property
    def _read(self) -> tuple[bytes, bool]:
        """The first bytes without a byte order mark, and whether the file ends there."""
        try:
            with self._opened() as stream:
                start = stream.read(_START)
                # A longer first line is completed, up to a limit.
                if len(start) == _START and b"\n" not in start.lstrip():
                    start += stream.readline(MAX_BYTES)
                return start.removeprefix(b"\xef\xbb\xbf"), not stream.read(1)
        except (UsageError, TraceError):
            return b"", False  # reading the file reports why

    @property
    def start(self) -> bytes:
        """The first bytes."""
        return self._read[0]

    @cached_property
    def _first_lines(self) -> list[bytes]:
        """The whole lines of the first bytes that are not blank and not comments."""
        start, is_all = self._read
        lines = start.split(b"\n")
        if not is_all and len(lines) > 1:
            lines.pop()
        return [line for line in lines if line.strip() and not line.lstrip().startswith(b"//")]

    @property
    def first_line(self) -> bytes:
        """The first line that is not blank and not a comment, without a byte order mark."""
        return self._first_lines[0] if self._first_lines else b""

    @cached_property
    def _line_objects(self) -> dict[int, dict[str, Any]]:
        """The JSON objects among the first lines, by the number of the line."""
        found = {}
        for number, line in enumerate(self._first_lines[:_MOST_OBJECTS]):
            if not line.lstrip().startswith(b"{"):
                continue
            try:
                value = decode_json(line)
            except TraceError:
                continue
            if isinstance(value, dict):
                found[number] = value
        return found

    @cached_property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects that the first lines hold, one a line; none of a printed document."""
        if self.document is not NO_DOCUMENT and len(self._first_lines) > 1:
            return []
        return list(self._line_objects.values())

    @cached_property
    def document(self) -> Any:
        """The value of a file that is one JSON document, else `NO_DOCUMENT`."""
        start, is_all = self._read
        if start.lstrip()[:1] not in (b"{", b"["):
            return NO_DOCUMENT
        found, several = self._line_objects, len(self._first_lines) > 1
        if is_all and found and not several:
            return found[0]
        # A document that is printed with indentation may have small objects on lines of their own:
        # what tells lines from a document is the first one.
        if 0 in found and several:
            return NO_DOCUMENT
        try:
            data = start if is_all else self.content()
            return decode_json(data)
        except (TraceError, UsageError):
            return NO_DOCUMENT

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the document, if it is an object."""
        return frozenset(self.document) if isinstance(self.document, dict) else frozenset()

    def content(self) -> bytes:
        """The whole file, decompressed. TraceError if it is too large, or damaged."""
        with self._opened() as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise TraceError(TOO_LONG)
        return data.removeprefix(b"\xef\xbb\xbf")

    def text(self) -> str:
        """The whole file as text; bytes that are not UTF-8 are replaced."""
        return self.content().decode(errors="replace")

    def lines(self) -> Iterator[Line]:
        """The non-blank lines, each with its number."""
        with self._opened() as stream:
            yield from lines_in(stream, str(self.path))

    def values(self) -> Iterator[tuple[int, Any] | Problem]:
        """The values of a file with one JSON value a line, each with the number of its line.

        Comment lines (`// …`) are left out. A line that cannot be read is a problem.
        """
        for number, line in self.lines():
            if isinstance(line, Problem):
                yield line
            elif not line.lstrip().startswith(b"//"):
                try:
                    yield number, decode_json(line)
                except TraceError as error:
                    parts = glued(line)
                    yield from ((number, decode_json(part)) for part in parts)
                    if not parts:
                        yield Problem(str(error), file=str(self.path), line=number)
