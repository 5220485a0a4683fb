"""Trace files of any format that trialrun reads, told apart by what stands in them.

One bad record does not spoil the others: it is reported with its place, and the rest is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from trialrun.errors import Problem, TraceError, TraceWarning, UsageError
from trialrun.importers import claude_code, native
from trialrun.importers.native import LINE_SUFFIXES, SUFFIXES, Record
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
        if among_others and claude_code.is_beside(file) and not _holds_trace(file):
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
            # Claude Code leaves files with nothing but the summary of another session behind.
            only_summaries = among_others and claude_code.recognises(_first_line(file))
            told = (
                "only summaries: no session in it" if only_summaries else "the file holds no trace"
            )
            (notes if only_summaries else problems).append(Problem(told, file=str(file)))
    return traces, problems, notes


def trace_files(path: Path) -> list[Path]:
    """The file itself, or every trace file in the folder and below it."""
    if is_folder(path):
        # A subagent's file is a part of the session that lies beside its folder.
        found = files_below(path, SUFFIXES)
        files = [file for file in found if not claude_code.is_subagent(file)]
        if not files and found:
            session = found[0].parent.parent.with_suffix(".jsonl")
            raise UsageError(f"{path}: holds subagents only; they are a part of {session}")
        if not any(not claude_code.is_beside(file) or _holds_trace(file) for file in files):
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
    """The records of one file, in the format that its first line shows."""
    if file.suffix in LINE_SUFFIXES and claude_code.recognises(_first_line(file)):
        return claude_code.records(file)
    return native.records(file)


def _first_line(file: Path) -> bytes:
    """The first line that is no comment; nothing where the file cannot be opened."""
    try:
        with file.open("rb") as stream:
            start = stream.read(_FIRST_LINES).removeprefix(b"\xef\xbb\xbf")
            for line in start.split(b"\n"):
                if line.strip() and not line.lstrip().startswith(b"//"):
                    # A first line longer than that is completed, up to a bound.
                    if start.endswith(line) and len(start) == _FIRST_LINES:
                        return line + stream.readline(native.MAX_BYTES)
                    return line
    except OSError:
        pass  # whoever reads the file says why
    return b""
