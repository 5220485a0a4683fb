"""File helpers: questions about paths that never raise, and atomic replacement of a file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def is_folder(path: Path) -> bool:
    """Whether it is a folder. An impossible name is not one: opening it later reports why."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def files_below(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files with one of these suffixes in the folder and below, sorted, without hidden ones."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in suffixes
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


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
