"""Split the files of traces into chunks that are read and judged by themselves.

Equal files give equal chunks on every machine: resuming and sharding depend on it. A large file of
lines is split between its lines without being read; any other file belongs to one chunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from trialrun.engine.bulk import remote
from trialrun.errors import Problem
from trialrun.importers import Found, as_found, each_in, is_something_else, listing, splits_at_lines
from trialrun.importers._lines import LineRange
from trialrun.importers.native import records_between
from trialrun.util.files import is_folder

SMALLEST, LARGEST = 4 * 1024 * 1024, 64 * 1024 * 1024
_WANTED = 2_000
_MOST_FILES = 500
_MOST_CASES = 200


class Piece(Struct, frozen=True, omit_defaults=True):
    """A file, or the lines of it that begin between two places.

    `source` is the number of the argument that named the file or its folder.
    """

    file: str
    size: int
    source: int = 0
    among_others: bool = False
    start: int = 0
    end: int | None = None


class Chunk(Struct, frozen=True, omit_defaults=True):
    """What is judged at once: pieces of files, or the cases that name their own traces."""

    number: int
    pieces: Sequence[Piece] = ()
    cases: Sequence[int] = ()

    @property
    def size(self) -> int:
        """The bytes to read, for the progress."""
        return sum(one.size for one in self.pieces)


class ChunkPlan(Struct, frozen=True):
    """All chunks, in the order of the results, and what was said while the folders were listed."""

    chunks: Sequence[Chunk]
    problems: Sequence[tuple[int, Problem]] = ()
    notes: Sequence[Problem] = ()

    def digest(self, roots: Sequence[str]) -> str:
        """The same for the same files, wherever the folders that were named are mounted."""
        plain = [
            [one.source, _below(one.file, roots[one.source]), one.size, one.start, one.end]
            for chunk in self.chunks
            for one in chunk.pieces
        ]
        counts = [[len(chunk.pieces), list(chunk.cases)] for chunk in self.chunks]
        from hashlib import blake2b

        return blake2b(msgspec.json.encode([plain, counts]), digest_size=16).hexdigest()


def _below(file: str, root: str) -> str:
    return file.removeprefix(root) or Path(file).name


def plan_chunks(
    paths: Sequence[str | Path], with_file: Sequence[int] = (), size: int | None = None
) -> ChunkPlan:
    """The chunks of these files and folders, after those of the cases that name their traces.

    Raises UsageError if one of the paths does not exist, or has no trace.
    """
    problems: list[tuple[int, Problem]] = []
    notes: list[Problem] = []
    whole: list[Piece] = []
    for source, path in enumerate(paths):
        if remote.is_remote(path):
            there = remote.files_at(str(path))
            several = len(there) > 1
            whole += [Piece(name, count, source, several) for name, count in there]
            continue
        said, files = listing(path)
        problems += [(source, one.problem) for one in said if one.problem is not None]
        notes += [note for one in said for note in one.notes]
        for file, among_others in files:
            whole.append(Piece(str(file), _size(file), source, among_others))
    total = sum(one.size for one in whole)
    target = size or min(max(total // _WANTED, SMALLEST), LARGEST)
    groups: list[Chunk] = []
    for at in range(0, len(with_file), _MOST_CASES):
        groups.append(Chunk(len(groups), cases=tuple(with_file[at : at + _MOST_CASES])))
    for pieces in _grouped(_split(whole, target), target):
        groups.append(Chunk(len(groups), tuple(pieces)))
    return ChunkPlan(groups, problems, notes)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _split(whole: Iterable[Piece], target: int) -> Iterator[Piece]:
    for one in whole:
        if one.size <= target or not _can_split(one.file, one.among_others):
            yield one
            continue
        for start in range(0, one.size, target):
            end = min(start + target, one.size)
            yield msgspec.structs.replace(one, size=end - start, start=start, end=end)


def _can_split(name: str, among_others: bool) -> bool:
    if remote.is_remote(name):
        return remote.can_split(name)
    file = Path(name)
    try:
        return splits_at_lines(file) and not (among_others and is_something_else(file))
    except OSError:
        return False  # reading it reports why


def _grouped(pieces: Iterable[Piece], target: int) -> Iterator[list[Piece]]:
    group: list[Piece] = []
    held = 0
    for one in pieces:
        if group and (held + one.size > target or len(group) >= _MOST_FILES):
            yield group
            group, held = [], 0
        group.append(one)
        held += one.size
    if group:
        yield group


class Reader:
    """Reads a piece; `lines` says afterwards how many lines it had, if it is a part of a file."""

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        self.lines = 0

    def __iter__(self) -> Iterator[Found]:
        piece, file = self._piece, Path(self._piece.file)
        is_remote = remote.is_remote(piece.file)
        if piece.end is None:
            found = remote.each_at(piece.file, piece.among_others) if is_remote else None
            yield from found or each_in(file, piece.among_others)
            return
        with remote.opened(piece.file) if is_remote else file.open("rb") as stream:
            part = LineRange(stream, piece.start, piece.end)
            for item in records_between(part, piece.file):
                yield as_found(file, item)
            self.lines = part.lines


def roots_of(paths: Sequence[str | Path]) -> list[str]:
    """The folder, or the file, of each argument, as its files' paths begin."""
    return [
        str(path)
        if remote.is_remote(path)
        else f"{Path(path)}/"
        if is_folder(Path(path))
        else str(Path(path))
        for path in paths
    ]
