"""Read traces from files; the importer is chosen by a file's content.

A bad record is reported with its place, and the others are read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from trialrun import registry
from trialrun.errors import PluginError, Problem, TraceError, TraceWarning, UsageError, crash
from trialrun.importers._other_files import what_it_is
from trialrun.importers._source import COMPRESSED, plain_suffix
from trialrun.importers.base import Importer, Record, Source
from trialrun.importers.native import NativeImporter, has_lines, is_surely_ours
from trialrun.model.trace import Trace
from trialrun.util.files import Unread, compressed_below, files_below, is_folder, reason

NATIVE = NativeImporter()

MOST_PROBLEMS = 100
"""How many unreadable records are listed one by one."""


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
    not_listed: Counter[str] = Counter()
    for found in each(path, in_folder):
        if found.trace is not None:
            traces.append(found.trace)
        # The first problems of a damaged file say enough; the rest are counted.
        if found.problem is not None and len(problems) < MOST_PROBLEMS:
            problems.append(found.problem)
        elif found.problem is not None:
            not_listed[str(found.problem.file)] += 1
        notes += found.notes
    for file, count in not_listed.items():
        problems.append(Problem(f"and {count:,} more that cannot be read", file=file, count=count))
    return traces, problems, notes


class Found(Struct, frozen=True):
    """One thing that was found in a file: a trace, a problem, or only notes."""

    file: Path
    trace: Trace | None = None
    problem: Problem | None = None
    notes: Sequence[Problem] = ()


def each(path: str | os.PathLike[str], in_folder: bool = False) -> Iterator[Found]:
    """What is found in a file or folder, one after the other: only one trace is held at a time."""
    notes, files = listing(path, in_folder)
    yield from notes
    for file, among_others in files:
        yield from each_in(file, among_others)


def listing(
    path: str | os.PathLike[str], in_folder: bool = False
) -> tuple[list[Found], list[tuple[Path, bool]]]:
    """What is said of a folder itself, and its files, each with whether it is among others."""
    is_in = is_folder(Path(path))
    files, unread = trace_files(Path(path))
    found = [Found(place, problem=Problem(why, file=str(place))) for place, why in unread]
    for packed in compressed_below(Path(path), _suffixes()) if is_in else ():
        note = Problem("left out: compressed in a way that is not read", file=str(packed))
        found.append(Found(packed, notes=[note]))
    return found, [(file, in_folder or is_in) for file in files]


def each_in(file: Path, among_others: bool) -> Iterator[Found]:
    """What is found in one file; `among_others`: it was found in a folder."""
    if among_others and is_something_else(file):
        note = Problem("left out: settings or an index, not a trace", file=str(file))
        yield Found(file, notes=[note])
        return
    is_empty = True
    for item in records(file):
        is_empty = False
        yield as_found(file, item)
    if is_empty:
        known = importer_of(file).when_empty
        nothing = Problem(known or "the file holds no trace", file=str(file))
        if known is not None and among_others:
            yield Found(file, notes=[nothing])
        else:
            yield Found(file, problem=nothing)


def as_found(file: Path, item: Record | Problem) -> Found:
    """What an importer yields, with its file."""
    if isinstance(item, Problem):
        return Found(file, problem=item)
    return Found(file, trace=item[0], notes=item[1])


def may_be_trace_file(file: Path) -> bool:
    """Whether a file below a folder is looked at, by its name alone."""
    return plain_suffix(file) in _suffixes() and not file.name.startswith(".")


def is_something_else(file: Path) -> bool:
    """Whether a file in a folder is settings or an index, by its name and its content."""
    return _is_not_trace(file) and not _holds_trace(file)


def splits_at_lines(file: Path) -> bool:
    """Whether every line of the file is a trace by itself, so that parts of it can be read alone.

    A compressed file is read from its beginning, and other formats may put a trace together from
    several lines.
    """
    source = Source(file)
    if not isinstance(_importer_for(source), NativeImporter) or what_it_is(source) is not None:
        return False
    return has_lines(file)


def _suffixes() -> set[str]:
    return {suffix for importer in (NATIVE, *_importers()) for suffix in importer.suffixes}


def trace_files(path: Path) -> tuple[list[Path], list[Unread]]:
    """The file itself, or every trace file in the folder and below, and what cannot be read."""
    if is_folder(path):
        suffixes = _suffixes()
        below, unread = files_below(path, suffixes | set(COMPRESSED))
        found = [file for file in below if _may_be_trace(file, suffixes)]
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


def _may_be_trace(file: Path, suffixes: set[str]) -> bool:
    """Whether a file in a folder is read: JSON always, other endings if a format knows it.

    A folder of traces may have a README.md or a spec in it.
    """
    suffix = plain_suffix(file)
    if suffix not in suffixes:
        return False
    return suffix in NativeImporter.suffixes or not isinstance(importer_of(file), NativeImporter)


def _holds_trace(file: Path) -> bool:
    """Whether a trace can be read from it, whatever its name."""
    try:
        return any(not isinstance(item, Problem) for item in records(file))
    except UsageError:  # unreadable settings are not an error
        return False


def records(file: Path) -> Iterator[Record | Problem]:
    """The records of one file, in the format that its content shows."""
    source = Source(file)
    importer = _importer_for(source)
    if isinstance(importer, NativeImporter) and (other := what_it_is(source)) is not None:
        yield Problem(other, file=str(file))
        return
    try:
        yield from importer.records(source)
    except UsageError:  # the file cannot be opened
        raise
    except Exception as error:  # one bad file must not stop the others
        reason = str(error) if isinstance(error, TraceError) else crash(error)
        yield Problem(f"the importer `{importer.name}` failed: {reason}", file=str(file))


def importer_of(file: Path) -> Importer:
    """The importer that recognises the file; else the native one, which reports the mistakes."""
    return _importer_for(Source(file))


def _importer_for(source: Source) -> Importer:
    # Most files are our own: then none of our other importers is imported.
    others = _others() if is_surely_ours(source) else _importers()
    return next((one for one in others if _recognises(one, source)), NATIVE)


def _recognises(importer: Importer, source: Source) -> bool:
    try:
        return importer.recognises(source)
    except Exception as error:  # a custom importer
        raise PluginError(f"the importer `{importer.name}` failed: {crash(error)}") from error


@cache
def _importers() -> list[Importer]:
    """Every importer but the native one, which reads what no other importer recognises."""
    return [kind() for name, kind in registry.importers().items() if name != NATIVE.name]


@cache
def _others() -> list[Importer]:
    """The importers of other packages."""
    return [kind() for kind in registry.find_others(registry.IMPORTERS).values()]


def _belongs_to(file: Path) -> Path | None:
    owners = (importer.belongs_to(file) for importer in _importers())
    return next((owner for owner in owners if owner is not None), None)


def _is_not_trace(file: Path) -> bool:
    return any(importer.is_not_trace(file) for importer in _importers())
