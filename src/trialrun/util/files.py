"""File helpers: questions about paths that never raise, and atomic replacement of a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def is_folder(path: Path) -> bool:
    """Whether it is a folder. An impossible name is not one: opening it later reports why."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


_COMPRESSED = frozenset({".bz2", ".xz", ".zip"})  # gzip and zstd are read as they are

Unread = tuple[Path, str]
"""Something in a folder that cannot be read, and why."""


def files_below(folder: Path, suffixes: Collection[str]) -> tuple[list[Path], list[Unread]]:
    """The files with one of these endings in the folder and below, and what could not be read.

    Endings are compared without case. Linked folders are followed, each folder once, so that a
    link to a folder above ends. Hidden files and folders are left out.
    """
    files: list[Path] = []
    unread: list[Unread] = []
    waiting, linked = [folder], list[Path]()
    seen: set[tuple[int, int]] = set()
    while waiting or linked:
        # Linked folders come last: what is in the folder itself is listed by its own path.
        place = waiting.pop() if waiting else linked.pop()
        try:
            status = place.stat()
            entries = sorted(place.iterdir())
        except OSError as error:
            unread.append((place, f"this folder cannot be read: {reason(error)}"))
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        for entry in entries:
            if entry.name.startswith("."):
                continue
            kind = _kind(entry, suffixes)
            if kind == "folder":
                (linked if entry.is_symlink() else waiting).append(entry)
            elif kind == "file":
                files.append(entry)
            elif kind is not None:
                unread.append((entry, kind))
    return sorted(files), sorted(unread)


def compressed_below(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """Compressed files with one of these endings below their own: `runs.jsonl.gz`."""
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix.lower() in _COMPRESSED and Path(file.stem).suffix.lower() in suffixes
    ]


def _kind(entry: Path, suffixes: Collection[str]) -> str | None:
    """`folder`, `file`, why it cannot be read, or None if it is none of these files."""
    ending = entry.suffix.lower()
    try:
        mode = entry.stat().st_mode
    except OSError as error:
        # A link without an ending may be one to a folder.
        return _why_unread(entry, error) if ending in suffixes or not ending else None
    if stat.S_ISDIR(mode):
        return "folder"
    if ending not in suffixes:
        return None
    return "file" if stat.S_ISREG(mode) else "not a file: a pipe, a socket or a device"


def _why_unread(entry: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and entry.is_symlink():
        return f"a link to {entry.readlink()}, which does not exist"
    return f"cannot be read: {reason(error)}"


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be opened: no permission, a name too long, a NUL in the name."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def replace_file(target: Path, chunks: Iterable[bytes]) -> None:
    """Write a temporary file, sync, rename: a reader sees the old file or the new, never half."""
    with replacement_for(target) as temporary, temporary.open("wb") as stream:
        for chunk in chunks:
            stream.write(chunk)


@contextmanager
def replacement_for(target: Path) -> Iterator[Path]:
    """A temporary file in the same folder, renamed to the target if the block raises nothing."""
    temporary = target.with_name(f".trialrun-{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(target)
    finally:
        if temporary.exists():
            temporary.unlink()
