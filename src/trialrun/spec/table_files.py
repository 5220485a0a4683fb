"""Reads tables from .csv and .jsonl files: strictly, reporting every mistake with its line.

A row is kept as the bytes that it was read from, not as values, to save memory.
"""

from __future__ import annotations

import csv
import json
from array import array
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from trialrun.errors import Problem
from trialrun.spec.document import MAX_BYTES, MAX_DEPTH
from trialrun.spec.validation import Place, Problems, Unreadable, described
from trialrun.util.files import is_folder, reason
from trialrun.util.packed import Packed
from trialrun.util.strict_json import without_duplicates

ENDINGS = (".csv", ".jsonl")
MOST_REPORTED = 20
"""Mistakes of one table that are reported one by one; the others are only counted."""

Row = dict[str, Any]


class Table:
    """The rows of a file, each decoded from its bytes on access."""

    def __init__(self, file: str, is_typed: bool) -> None:
        self.file = file
        self.is_typed = is_typed
        self.columns: dict[str, None] = {}  # a set that keeps its order
        self._rows = Packed()
        self._lines = array("I")

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, line: int, row: bytes) -> None:
        """Add a row that begins at this line of the file."""
        self._lines.append(line)
        self._rows.append(row)

    def row(self, index: int) -> Row:
        """The values of a row by column."""
        if self.is_typed:
            row: Row = json.loads(self._rows[index])
            return row
        return dict(zip(self.columns, msgspec.json.decode(self._rows[index]), strict=True))

    def line(self, index: int) -> int:
        """The line of the row in the file."""
        return self._lines[index]

    def place(self, index: int) -> str:
        """The file and line of the row, for a message."""
        return f"{self.file}:{self._lines[index]}"


class _Broken(Exception):
    """The file cannot be read from this line on."""

    def __init__(self, line: int | None, message: str) -> None:
        super().__init__(message)
        self.line = line


def read_table(path: Path, place: Place, problems: Problems) -> Table:
    """The table in the file that is named at this place; Unreadable after adding the problem."""
    if path.suffix.lower() not in ENDINGS:
        problems.add(place, f"expected a file that ends in .csv or .jsonl, found {path.name}")
        raise Unreadable()
    table = Table(str(path), is_typed=path.suffix.lower() == ".jsonl")
    found: list[tuple[int | None, str]] = []

    def wrong(line: int | None, message: str) -> None:
        found.append((line, message))

    try:
        (_read_jsonl if table.is_typed else _read_csv)(_lines(path), table, wrong)
    except _Broken as broken:
        wrong(broken.line, str(broken))
    except (OSError, ValueError) as error:
        problems.add(place, f"{str(path)[:200]}: {_why_not(path, error)}")
        raise Unreadable() from None
    if not found and not len(table):
        wrong(None, "no rows: a table without any makes no case")
    problems.found += [Problem(text, "", str(path), line) for line, text in found[:MOST_REPORTED]]
    if len(found) > MOST_REPORTED:
        more = f"and {len(found) - MOST_REPORTED} more lines that cannot be read"
        problems.found.append(Problem(more, "", str(path)))
    if found:
        raise Unreadable()
    return table


def _why_not(path: Path, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if is_folder(path):
        return "a folder, where a file is expected"
    return f"cannot be read: {reason(error)}"


def _lines(path: Path) -> Iterator[str]:
    """The lines of the file, with their line breaks."""
    offset = 0
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError("not a file")  # a device or a pipe may never end
    with path.open("rb") as stream:
        # Limit the length of each line: a file may be one line of any length.
        limited = iter(lambda: stream.readline(MAX_BYTES - offset + 1), b"")
        for number, line in enumerate(limited, 1):
            if offset + len(line) > MAX_BYTES:
                raise _Broken(None, f"at most {MAX_BYTES:,} bytes are read")
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                at, byte = offset + error.start, line[error.start]
                message = f"not UTF-8: byte 0x{byte:02x} at offset {at}"
                raise _Broken(number, message) from None
            if "\0" in text:
                raise _Broken(number, "a NUL character")
            offset += len(line)
            yield text.removeprefix("\ufeff") if number == 1 else text


Wrong = Callable[[int | None, str], None]


def _read_csv(lines: Iterator[str], table: Table, wrong: Wrong) -> None:
    records = _csv_records(lines)
    header = next(records, None)
    if header is None:
        raise _Broken(None, "the file is empty; its first line names the columns")
    line, names = header
    for number, name in enumerate((name.strip() for name in names), 1):
        if not name:
            wrong(line, f"column {number} has no name")
        elif name in table.columns:
            wrong(line, f"two columns are named `{name}`")
        table.columns[name] = None
    for line, cells in records:
        if len(cells) != len(names):
            wrong(line, f"expected {len(names)} fields, as in the first line, found {len(cells)}")
        else:
            table.add(line, msgspec.json.encode(cells))


def _csv_records(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Each record with its first line; a record may contain line breaks."""
    reader = csv.reader(lines, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message = str(error)
            if "unexpected end of data" in message:
                message = "a quote is opened and never closed"
            elif "field limit" in message:
                message += "; use .jsonl for texts of this length"
            raise _Broken(line, f"not CSV: {message}") from None
        if cells:
            yield line, cells


def _read_jsonl(lines: Iterator[str], table: Table, wrong: Wrong) -> None:
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        try:
            row = _checked_row(text)
        except json.JSONDecodeError as error:
            wrong(number, f"not JSON: {error.msg} at character {error.pos + 1}")
        except ValueError as error:
            wrong(number, str(error))
        else:
            table.columns |= dict.fromkeys(row)
            table.add(number, text.encode())


def _checked_row(text: str) -> Row:
    try:
        value = json.loads(
            text,
            object_pairs_hook=without_duplicates,
            parse_constant=_refuse_number,
            parse_float=_finite,
        )
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, {{column: value}}, found {described(value)}")
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise _too_deep()
    if "\\ud" in text.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # it could not be sent to an agent or written to a report
            raise ValueError("a text contains half a character (a lone surrogate)") from None
    return value


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_deep() -> ValueError:
    return ValueError(f"nested more than {MAX_DEPTH} levels deep")


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refuse_number(text)


def _refuse_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number that a value may have")
