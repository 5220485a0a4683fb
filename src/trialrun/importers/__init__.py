"""Read traces from files; the importer is chosen by a file's content.

A bad record is reported with its place, and the others are read.
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
from trialrun.util.files import Unread, compressed_below, files_below, is_folder, reason

MOST_PROBLEMS = 100
"""How many unreadable records are listed one by one."""

_FIRST_LINES = 64 * 1024
"""How many bytes of a file are read to recognise its format."""


def read_traces(path: str | os.PathLike[str]) -> list[Trace]:
    """The traces of a file, or of all files in a folder.

    Raises TraceError with every record that cannot be read; unusable values are left out with a
    `TraceWarning`. Use `scan` to get the good records of a file that also has bad ones.
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
    """The traces of a file or folder, the problems, and notes on values that were left out.

    `in_folder`: the user did not name this file, it was found in a folder.
    """
    traces: list[Trace] = []
    problems: list[Problem] = []
    notes: list[Problem] = []
    among_others = in_folder or is_folder(Path(path))
    files, unread = trace_files(Path(path))
    problems += [Problem(why, file=str(place)) for place, why in unread]
    if is_folder(Path(path)):
        packed = compressed_below(Path(path), _suffixes())
        notes += [Problem("left out: compressed; unpack it first", file=str(f)) for f in packed]
    for file in files:
        if among_others and _is_not_trace(file) and not _holds_trace(file):
            notes.append(Problem("left out: settings or an index, not a trace", file=str(file)))
            continue
        before = len(traces) + len(problems)
        not_listed = 0
        for item in records(file):
            if isinstance(item, Problem):
                # The first problems of a damaged file say enough; the rest are counted.
                if len(problems) < MOST_PROBLEMS:
                    problems.append(item)
                else:
                    not_listed += 1
            else:
                trace, found = item
                traces.append(trace)
                notes += found
        if not_listed:
            more = f"and {not_listed:,} more that cannot be read"
            problems.append(Problem(more, file=str(file), count=not_listed))
        if len(traces) + len(problems) == before:
            reason_of_none = importer_of(file).when_empty if among_others else None
            target = problems if reason_of_none is None else notes
            target.append(Problem(reason_of_none or "the file holds no trace", file=str(file)))
    return traces, problems, notes


def _suffixes() -> set[str]:
    return {suffix for importer in _importers() for suffix in importer.suffixes}


def trace_files(path: Path) -> tuple[list[Path], list[Unread]]:
    """The file itself, or every trace file in the folder and below, and what cannot be read."""
    if is_folder(path):
        suffixes = _suffixes()
        found, unread = files_below(path, suffixes)
        # For example, a subagent's file is part of the session file beside its folder.
        owners = {file: _belongs_to(file) for file in found}
        files = [file for file, owner in owners.items() if owner is None]
        if not files and found and not unread:
            raise UsageError(
                f"{path}: these files are part of {owners[found[0]]} and are read with it"
            )
        if not unread and not any(not _is_not_trace(file) or _holds_trace(file) for file in files):
            endings = ", ".join(sorted(suffixes))
            raise UsageError(f"{path}: no trace here; trace files end in one of {endings}")
        return files, unread
    try:
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)[:200]}: cannot be read: {reason(error)}") from None
    return [path], []


def _holds_trace(file: Path) -> bool:
    """Whether a trace can be read from it, whatever its name."""
    try:
        return any(not isinstance(item, Problem) for item in records(file))
    except UsageError:  # unreadable settings are not an error
        return False


def records(file: Path) -> Iterator[Record | Problem]:
    """The records of one file, in the format that its content shows."""
    importer = importer_of(file)
    try:
        yield from importer.records(file)
    except UsageError:  # the file cannot be opened
        raise
    except Exception as error:  # one bad file must not stop the others
        reason = str(error) if isinstance(error, TraceError) else crash(error)
        yield Problem(f"the importer `{importer.name}` failed: {reason}", file=str(file))


def importer_of(file: Path) -> Importer:
    """The importer that recognises the file; else the native one, which reports the mistakes."""
    *others, native = _importers()
    head = Head(file, _first_line(file))
    candidates = (one for one in others if file.suffix.lower() in one.suffixes)
    return next((one for one in candidates if _recognises(one, head)), native)


def _recognises(importer: Importer, head: Head) -> bool:
    try:
        return importer.recognises(head)
    except Exception as error:  # a custom importer
        raise PluginError(f"the importer `{importer.name}` failed: {crash(error)}") from error


@cache
def _importers() -> list[Importer]:
    """Every importer, the native one last: it reads what no other importer recognises."""
    found = [kind() for kind in registry.importers().values()]
    return sorted(found, key=lambda importer: importer.name == "native")


def _belongs_to(file: Path) -> Path | None:
    owners = (importer.belongs_to(file) for importer in _importers())
    return next((owner for owner in owners if owner is not None), None)


def _is_not_trace(file: Path) -> bool:
    return any(importer.is_not_trace(file) for importer in _importers())


def _first_line(file: Path) -> bytes:
    """The first line that is not a comment; empty if the file cannot be opened."""
    try:
        with file.open("rb") as stream:
            start = stream.read(_FIRST_LINES).removeprefix(b"\xef\xbb\xbf")
            for line in start.split(b"\n"):
                if line.strip() and not line.lstrip().startswith(b"//"):
                    # Complete a longer first line, up to a limit.
                    if start.endswith(line) and len(start) == _FIRST_LINES:
                        return line + stream.readline(MAX_BYTES)
                    return line
    except OSError:
        pass  # reading the file reports why
    return b""
