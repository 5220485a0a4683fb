"""trialrun's own traces: a JSON object, a JSON list of them, or JSON lines.

One bad record does not spoil the others: it is reported with its place, and the rest is read. A
record is read whole, so its size is bounded; a longer line is passed over without being held.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO

import msgspec

from trialrun.errors import Problem, TraceError, TraceWarning, UsageError
from trialrun.files import files_below, is_folder, reason, replace_file
from trialrun.trace import Trace
from trialrun.trace_format import decode, located

MAX_BYTES = 64 * 1024 * 1024
"""The largest record that is read."""

MOST_PROBLEMS = 100
"""How many records that cannot be read are named one by one."""

LINE_SUFFIXES = (".jsonl", ".ndjson")
SUFFIXES = (".json", *LINE_SUFFIXES)

_CHUNK = 1024 * 1024
_TOO_LONG = f"longer than {MAX_BYTES // 1024**2} MiB, the most that is read as one trace"


def read_traces(path: str | os.PathLike[str]) -> list[Trace]:
    """The traces of a file, or of all files in a folder.

    TraceError names every record that cannot be read; values that cannot be used are left out with
    a `TraceWarning`. `scan` is the way to the good records of a file with bad ones.
    """
    traces, problems, notes = scan(path)
    if notes:
        import warnings

        for note in notes:
            warnings.warn(str(note), TraceWarning, stacklevel=2)
    if problems:
        raise TraceError(problems)
    return traces


def scan(path: str | os.PathLike[str]) -> tuple[list[Trace], list[Problem], list[Problem]]:
    """What can be read of a file or folder, what cannot, and the values that were left out."""
    traces: list[Trace] = []
    problems: list[Problem] = []
    notes: list[Problem] = []
    for file in trace_files(Path(path)):
        before = len(traces) + len(problems)
        unnamed = 0
        for item in _records(file):
            if isinstance(item, Problem):
                # Of a file of garbage, the first mistakes say enough; the rest are counted.
                if len(problems) < MOST_PROBLEMS:
                    problems.append(item)
                else:
                    unnamed += 1
            else:
                trace, found = item
                traces.append(trace)
                notes += found
        if unnamed:
            problems.append(Problem(f"and {unnamed:,} more that cannot be read", file=str(file)))
        if len(traces) + len(problems) == before:
            problems.append(Problem("the file holds no trace", file=str(file)))
    return traces, problems, notes


def trace_files(path: Path) -> list[Path]:
    """The file itself, or every trace file in the folder and below it."""
    if is_folder(path):
        files = files_below(path, SUFFIXES)
        if not files:
            raise UsageError(f"{path}: no trace here; traces are files that end in .json or .jsonl")
        return files
    try:
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)[:200]}: cannot be read: {reason(error)}") from None
    return [path]


Record = tuple[Trace, list[Problem]]


def _records(file: Path) -> Iterator[Record | Problem]:
    name = str(file)
    try:
        with file.open("rb") as stream:
            if file.suffix in LINE_SUFFIXES:
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
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {reason(error)}") from None
    if len(data) > MAX_BYTES:
        yield Problem(_TOO_LONG, file=name)
        return
    yield from _document(data, name)


def _is_whole(line: bytes) -> bool:
    """Whether the first line is a JSON object by itself: then each line is a trace."""
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def _document(data: bytes, name: str) -> Iterator[Record | Problem]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        return
    if not data.lstrip().startswith(b"["):
        yield _one(data, name, None)
        return
    for index, item in enumerate(_items(data)):
        found = _one(item, name, None)
        if isinstance(found, Problem):
            found = msgspec.structs.replace(found, path=f"[{index}]")
        yield found


# What matters when looking for the ends of a list's items: texts, as a whole, and punctuation.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)


def _items(data: bytes) -> Iterator[bytes]:
    """The items of a JSON list as they stand, whether or not each of them can be read.

    Cut at the commas of the outermost list, without recursion: an item that is damaged or nested
    beyond reading does not take the others with it.
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
                break  # whatever stands behind the list is an item that cannot be read
    if data[start:].strip():
        yield data[start:].strip()


def _lines(stream: IO[bytes], name: str) -> Iterator[Record | Problem]:
    number = 0
    while line := stream.readline(MAX_BYTES + 1):
        number += 1
        if len(line) > MAX_BYTES and not line.endswith(b"\n"):
            del line
            _skip_line(stream)
            yield Problem(_TOO_LONG, file=name, line=number)
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield _one(line.rstrip(b"\r\n"), name, number)


def _skip_line(stream: IO[bytes]) -> None:
    while chunk := stream.readline(_CHUNK):
        if chunk.endswith(b"\n"):
            return


def _one(text: bytes, name: str, line: int | None) -> Record | Problem:
    try:
        trace, notes = decode(text)
    except TraceError as error:
        return located(error, name, line)[0]
    return trace, [Problem(note, file=name, line=line) for note in notes]


def write_traces(traces: Iterable[Trace], path: str | os.PathLike[str]) -> None:
    """Write the traces as JSON lines; an earlier file is replaced whole or not at all."""
    replace_file(Path(path), (trace.to_json() + b"\n" for trace in traces))


__all__ = ["read_traces", "scan", "trace_files", "write_traces"]
