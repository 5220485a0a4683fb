"""Read and write trialrun's own traces: a JSON object, a JSON list of them, or JSON lines.

A bad record is reported with its place, and the others are read. Records are loaded whole, so
their size is limited; a longer line is skipped without loading it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO

import msgspec

from trialrun.errors import Problem, TraceError
from trialrun.importers._lines import MAX_BYTES, TOO_LONG, LineRange, lines_in
from trialrun.importers._source import COMPRESSED, MAGIC, NotJson, opened, plain_suffix
from trialrun.importers.base import Importer, Record, Source
from trialrun.model.trace import Trace
from trialrun.model.trace_format import decode, located
from trialrun.util.files import replace_file

LINE_SUFFIXES = (".jsonl", ".ndjson")


class NativeImporter(Importer):
    """Reads what no other importer recognises, and reports mistakes in trialrun's own format."""

    name = "native"
    title = "trialrun's own traces: a JSON object, a list of them, or JSON lines"
    suffixes = (".json", *LINE_SUFFIXES)
    export = "`trialrun import`, `trialrun export`, `Trace.to_json`"
    example = (
        '{"input": "2 + 2?", "output": "4", "steps": [{"type": "tool_call", "tool_name": "add"}]}'
    )

    def recognises(self, source: Source) -> bool:
        return source.first_line.lstrip().startswith((b"{", b"["))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        return records(source.path)


def is_surely_ours(source: Source) -> bool:
    """Whether no other importer of ours can recognise the file: all of its traces have our mark."""
    document = source.document
    values = source.objects if isinstance(document, NotJson) else document
    values = values if isinstance(values, list) else [values]
    return bool(values) and all(
        isinstance(value, dict) and type(value.get("format_version")) is int for value in values
    )


def records(file: Path) -> Iterator[Record | Problem]:
    """The traces of a file, each with its notes, and problems for records that cannot be read."""
    name = str(file)
    with opened(file) as stream:
        if plain_suffix(file) in LINE_SUFFIXES:
            yield from _lines(stream, name)
            return
        data = stream.read(MAX_BYTES + 1)
        first, _, rest = data.partition(b"\n")
        if rest.strip() and _is_whole(first):
            if stream.seekable():
                stream.seek(0)
                yield from _lines(stream, name)
                return
            if len(data) <= MAX_BYTES:
                yield from _lines(BytesIO(data), name)
                return
    if len(data) > MAX_BYTES:
        yield Problem(TOO_LONG, file=name)
        return
    yield from _document(data, name)


def _is_whole(line: bytes) -> bool:
    """Whether the first line is a JSON object by itself: then every line is a trace."""
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def has_lines(file: Path) -> bool:
    """Whether an uncompressed file has a trace on every line."""
    if file.suffix.lower() in COMPRESSED:
        return False
    with file.open("rb") as stream:
        start = stream.read(4)
        if start.startswith(MAGIC):
            return False
        if plain_suffix(file) in LINE_SUFFIXES:
            return True
        return _is_whole(start + stream.readline(MAX_BYTES))


def records_between(lines: LineRange, name: str) -> Iterator[Record | Problem]:
    """The traces on the lines of a part of a file; line numbers count from the part's first."""
    yield from _lines(lines, name)  # type: ignore[arg-type]


def _document(data: bytes, name: str) -> Iterator[Record | Problem]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        return
    if not data.lstrip().startswith(b"["):
        yield _decode_one(data, name, None)
        return
    for index, item in enumerate(_items(data)):
        found = _decode_one(item, name, None)
        if isinstance(found, Problem):
            found = msgspec.structs.replace(found, path=f"[{index}]")
        yield found


# Finds the ends of a list's items in `[{"a": "x,y"}, 2]`: whole strings and punctuation.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)


def _items(data: bytes) -> Iterator[bytes]:
    """The items of a JSON list as bytes, even when some of them cannot be read.

    Splits at the commas of the outermost list, without recursion: a damaged or deeply nested item
    does not affect the others.
    """
    depth, start = 0, 0
    for token in _TOKEN.finditer(data):
        sign = token.group()
        if sign in (b"[", b"{"):
            depth += 1
            if depth == 1:
                start = token.end()
        elif sign in (b"]", b"}"):
            depth -= 1
        if depth == 0 or (depth == 1 and sign == b","):
            if data[start : token.start()].strip():
                yield data[start : token.start()].strip()
            start = token.end()
            if depth == 0:
                break  # anything after the list is an item that cannot be read
    if data[start:].strip():
        yield data[start:].strip()


def _lines(stream: IO[bytes], name: str) -> Iterator[Record | Problem]:
    for number, line in lines_in(stream, name):
        yield line if isinstance(line, Problem) else _decode_one(line, name, number)


_ELSEWHERE = "; no other known format is recognised in it either (docs/formats.md)"
_UNLIKE_OURS = ("`input` is missing", "not JSON", "a trace is a JSON object")


def _decode_one(text: bytes, name: str, line: int | None) -> Record | Problem:
    try:
        trace, notes = decode(text)
    except TraceError as error:
        problem = located(error, name, line)[0]
        is_ours = b'"output"' in text or b'"steps"' in text
        if not is_ours and problem.message.startswith(_UNLIKE_OURS):
            problem = msgspec.structs.replace(problem, message=problem.message + _ELSEWHERE)
        return problem
    return trace, [Problem(note, file=name, line=line) for note in notes]


def write_traces(traces: Iterable[Trace], path: str | os.PathLike[str]) -> None:
    """Write the traces as JSON lines; an earlier file is replaced atomically."""
    replace_file(Path(path), (trace.to_json() + b"\n" for trace in traces))


__all__ = ["MAX_BYTES", "records", "write_traces"]
