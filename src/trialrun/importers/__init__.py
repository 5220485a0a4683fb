"""Traces from files of any format that an importer reads, told apart by their content.

One bad record does not spoil the others: it is reported with its place, and the rest is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from trialrun import registry
from trialrun.errors import PluginError, Problem, TraceError, TraceWarning, UsageError, crash
from trialrun.importers._lines import MAX_BYTES
from trialrun.importers.base import Head, Importer, Record
from trialrun.model.trace import Trace
from trialrun.util.files import files_below, is_folder, reason

MOST_PROBLEMS = 100
"""How many records that cannot be read are named one by one."""

_FIRST_LINES = 64 * 1024
"""As much of a file as is looked at to tell its format."""


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


def scan(
    path: str | os.PathLike[str], in_folder: bool = False
) -> tuple[list[Trace], list[Problem], list[Problem]]:
    """What can be read of a file or folder, what cannot, and the values that were left out.

    `in_folder`: nobody asked for this very file, it was found among others.
    """
    traces: list[Trace] = []
    problems: list[Problem] = []
    notes: list[Problem] = []
    among_others = in_folder or is_folder(Path(path))
    for file in trace_files(Path(path)):
        if among_others and _is_no_trace(file) and not _holds_trace(file):
            notes.append(Problem("left out: settings or an index, no trace", file=str(file)))
            continue
        before = len(traces) + len(problems)
        unnamed = 0
        for item in records(file):
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
            reason_of_none = importer_of(file).when_empty if among_others else None
            target = problems if reason_of_none is None else notes
            target.append(Problem(reason_of_none or "the file holds no trace", file=str(file)))
    return traces, problems, notes


def trace_files(path: Path) -> list[Path]:
    """The file itself, or every trace file in the folder and below it."""
    if is_folder(path):
        suffixes = {suffix for importer in _importers() for suffix in importer.suffixes}
        found = files_below(path, suffixes)
        # A subagent's file, for one, is a part of the session that lies beside its folder.
        wholes = {file: _belongs_to(file) for file in found}
        files = [file for file, whole in wholes.items() if whole is None]
        if not files and found:
            raise UsageError(
                f"{path}: what lies here is a part of {wholes[found[0]]}, and is read with it"
            )
        if not any(not _is_no_trace(file) or _holds_trace(file) for file in files):
            raise UsageError(f"{path}: no trace here; traces are files that end in .json or .jsonl")
        return files
    try:
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)[:200]}: cannot be read: {reason(error)}") from None
    return [path]


def _holds_trace(file: Path) -> bool:
    """Whether a trace can be read from it, whatever its name."""
    try:
        return any(not isinstance(item, Problem) for item in records(file))
    except UsageError:  # settings that may not be read stand in nobody's way
        return False


def records(file: Path) -> Iterator[Record | Problem]:
    """The records of one file, in the format that its content shows."""
    return importer_of(file).records(file)


def importer_of(file: Path) -> Importer:
    """The importer that recognises the file; else our own format's, which says what is wrong."""
    *others, native = _importers()
    head = Head(file, _first_line(file))
    candidates = (one for one in others if file.suffix.lower() in one.suffixes)
    return next((one for one in candidates if _recognises(one, head)), native)


def _recognises(importer: Importer, head: Head) -> bool:
    try:
        return importer.recognises(head)
    except Exception as error:  # somebody else's importer
        raise PluginError(f"the importer `{importer.name}` failed: {crash(error)}") from error


@cache
def _importers() -> list[Importer]:
    """Every importer, our own format last: it is what a file is taken for that none recognises."""
    found = [kind() for kind in registry.importers().values()]
    return sorted(found, key=lambda importer: importer.name == "native")


def _belongs_to(file: Path) -> Path | None:
    wholes = (importer.belongs_to(file) for importer in _importers())
    return next((whole for whole in wholes if whole is not None), None)


def _is_no_trace(file: Path) -> bool:
    return any(importer.is_no_trace(file) for importer in _importers())


def _first_line(file: Path) -> bytes:
    """The first line that is no comment; nothing where the file cannot be opened."""
    try:
        with file.open("rb") as stream:
            start = stream.read(_FIRST_LINES).removeprefix(b"\xef\xbb\xbf")
            for line in start.split(b"\n"):
                if line.strip() and not line.lstrip().startswith(b"//"):
                    # A first line longer than that is completed, up to a bound.
                    if start.endswith(line) and len(start) == _FIRST_LINES:
                        return line + stream.readline(MAX_BYTES)
                    return line
    except OSError:
        pass  # whoever reads the file says why
    return b""
