"""The folder in which the parts of a bulk result are kept until they are merged.

A part is there whole or not at all: it is written under another name and renamed, its summary last.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from trialrun.engine.bulk.part import Summary, as_json, from_json
from trialrun.errors import StoreWriteError, TraceError
from trialrun.util.files import reason

_DIGEST = 16


class Rows:
    """Takes the rows of a part, one a line, and computes their digest."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        from hashlib import blake2b

        self._digest = blake2b(digest_size=_DIGEST)
        self._size = 0

    def add(self, row: bytes) -> None:
        """Write a row."""
        self.add_all(row + b"\n")

    def add_all(self, line: bytes) -> None:
        """Write whole lines."""
        try:
            self._stream.write(line)
        except OSError as error:
            raise StoreWriteError(f"the parts cannot be written: {reason(error)}") from None
        self._digest.update(line)
        self._size += len(line)

    def describe(self, summary: Summary) -> None:
        """Note in the summary what the rows are."""
        summary.size, summary.digest = self._size, self._digest.hexdigest()


class PartsFolder:
    """The parts by the numbers of their chunks: `000012.jsonl` and `000012.json`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _rows(self, chunk: int) -> Path:
        return self.path / f"{chunk:06}.jsonl"

    def _summary(self, chunk: int) -> Path:
        return self.path / f"{chunk:06}.json"

    @contextmanager
    def writing(self, chunk: int) -> Iterator[Rows]:
        """Takes the rows of a part, which are there when the block ends without an error."""
        with _replacing(self._rows(chunk)) as stream:
            yield Rows(stream)

    def finish(self, summary: Summary) -> None:
        """Write the summary: from now on the part is there."""
        with _replacing(self._summary(summary.chunk)) as stream:
            try:
                stream.write(as_json(summary))
            except OSError as error:
                raise _unwritten(self._summary(summary.chunk), error) from None

    def has(self, chunk: int) -> bool:
        """Whether the part is there."""
        return self._summary(chunk).exists()

    def summary(self, chunk: int) -> Summary:
        """The summary of a part; TraceError if it is damaged."""
        try:
            found = from_json(self._summary(chunk).read_bytes())
        except ValueError as error:
            raise TraceError(f"{self._summary(chunk)}: this part is damaged: {error}") from None
        if found.chunk != chunk or len(found.cases) != found.counted():
            raise TraceError(f"{self._summary(chunk)}: this part is damaged: its counts differ")
        return found

    def lines(self, summary: Summary) -> Iterator[bytes]:
        """The rows of a part; TraceError if they are not those that the summary describes."""
        file = self._rows(summary.chunk)
        from hashlib import blake2b

        digest = blake2b(digest_size=_DIGEST)
        try:
            with file.open("rb") as stream:
                for line in stream:
                    digest.update(line)
                    yield line
        except FileNotFoundError:
            raise TraceError(f"{file}: the rows of this part are missing") from None
        if digest.hexdigest() != summary.digest:
            raise TraceError(f"{file}: these are not the rows that were written: damaged")

    def remove(self) -> None:
        """Delete the parts; files of others stay."""
        for pattern in ("[0-9]*.json", "[0-9]*.jsonl", "job.json", ".part-*"):
            for file in self.path.glob(pattern):
                file.unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """A stream whose content takes the place of the file when the block ends without an error.

    Without a sync to the disk: after a power cut, the digest of a part tells.
    """
    temporary = target.with_name(f".part-{os.getpid()}-{target.name}")
    try:
        stream = temporary.open("wb")
    except OSError as error:
        raise _unwritten(target, error) from None
    try:
        yield stream
        try:
            stream.close()
            temporary.replace(target)
        except OSError as error:
            raise _unwritten(target, error) from None
    finally:
        with suppress(OSError):
            stream.close()
        temporary.unlink(missing_ok=True)


def _unwritten(target: Path, error: OSError) -> StoreWriteError:
    return StoreWriteError(f"{target}: cannot be written: {reason(error)}")
