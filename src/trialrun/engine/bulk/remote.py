"""Traces at addresses (`s3://…`, `gs://…`, `memory://…`), read through fsspec."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from msgspec.structs import replace

from trialrun.errors import Problem, UsageError
from trialrun.importers import Found, each_in, may_be_trace_file, splits_at_lines
from trialrun.util.lazy_patterns import lazy_pattern

_ADDRESS = lazy_pattern(r"[a-z][a-z0-9+.-]+://")  # s3://bucket/traces
_START = 512 * 1024


def is_remote(path: object) -> bool:
    """Whether it is an address and not a path."""
    return bool(_ADDRESS.match(str(path)))


def files_at(address: str) -> list[tuple[str, int]]:
    """The file at an address, or all trace files below it, each with its size."""
    system, path = _system(address)
    scheme = address.partition("://")[0]
    try:
        if system.isfile(path):
            return [(address, int(system.size(path)))]
        found = system.find(path, detail=True)
    except Exception as error:  # each file system has its own errors
        raise UsageError(f"{address}: cannot be read: {type(error).__name__}: {error}") from None
    files = [
        (f"{scheme}://{name.lstrip('/')}" if scheme != "file" else f"file://{name}", entry["size"])
        for name, entry in sorted(found.items())
        if may_be_trace_file(Path(name))
    ]
    if not files:
        raise UsageError(f"{address}: no trace here")
    return files


def _system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise UsageError(f"{address}: needs fsspec: pip install '.[remote]' (in a clone)") from None
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:  # the file system's own package is missing
        raise UsageError(f"{address}: cannot be opened: {error}") from None
    return system, path


@contextmanager
def opened(address: str) -> Iterator[IO[bytes]]:
    """The file as a stream in which one can seek."""
    system, path = _system(address)
    with system.open(path, "rb") as stream:
        yield stream


def can_split(address: str) -> bool:
    """Whether every line of the file is a trace: its first lines tell."""
    import tempfile

    with opened(address) as stream, tempfile.TemporaryDirectory(prefix="trialrun-") as folder:
        copy = Path(folder) / Path(address).name
        copy.write_bytes(stream.read(_START))
        return splits_at_lines(copy)


def each_at(address: str, among_others: bool) -> Iterator[Found]:
    """What is found in a file: it is copied first, because formats are read in two passes."""
    system, path = _system(address)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="trialrun-") as folder:
        copy = Path(folder) / Path(address).name
        try:
            system.get_file(path, str(copy))
        except Exception as error:  # each file system has its own errors
            text = f"cannot be read: {type(error).__name__}: {error}"
            yield Found(Path(address), problem=Problem(text, file=address))
            return
        for found in each_in(copy, among_others):
            yield _renamed(found, address)


def _renamed(found: Found, address: str) -> Found:
    """The same, found at the address and not in the copy."""
    problem = None if found.problem is None else replace(found.problem, file=address)
    return replace(
        found, problem=problem, notes=[replace(one, file=address) for one in found.notes]
    )
