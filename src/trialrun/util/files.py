"""Files whose names users give: asked about without surprises, replaced whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def is_folder(path: Path) -> bool:
    """Whether it is a folder; a name that no file can have is none (opening it says why)."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def files_below(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files with one of these endings in the folder and below it, sorted; none hidden."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in suffixes
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be had: no permission, a name too long, a NUL in the name."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def replace_file(target: Path, chunks: Iterable[bytes]) -> None:
    """Write beside, sync, rename: whoever reads sees the old file or the new one, never half."""
    with beside(target) as temporary, temporary.open("wb") as stream:
        for chunk in chunks:
            stream.write(chunk)


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A file to write in place of another: it takes that one's name only when all went well."""
    temporary = target.with_name(f".trialrun-{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(target)
    finally:
        if temporary.exists():
            temporary.unlink()
