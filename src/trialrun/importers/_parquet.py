"""Parquet files as lines of JSON, one a row: each importer of rows reads them as it reads lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from trialrun.errors import TraceError, UsageError

MAGIC = b"PAR1"
_ROWS = 200


@contextmanager
def lines_of(file: Path) -> Iterator[IO[bytes]]:
    """A stream of the rows; some rows are held at a time. TraceError if the file is damaged."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install '.[parquet]' (in a clone)") from None
    try:
        with parquet.ParquetFile(file) as table:
            yield io.BufferedReader(_Lines(_rows(table, pyarrow)))
    except pyarrow.ArrowException as error:
        raise TraceError(f"damaged, or not Parquet: {error}") from None


def _rows(table: Any, arrow: Any) -> Iterator[bytes]:
    encode = msgspec.json.Encoder(enc_hook=str).encode
    for batch in table.iter_batches(batch_size=_ROWS):
        columns = {
            name: _column(column, arrow).to_pylist()
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
        for values in zip(*columns.values(), strict=True):
            yield encode(dict(zip(columns, values, strict=True))) + b"\n"


def _column(column: Any, arrow: Any) -> Any:
    """Times as nanoseconds since 1970: a datetime would lose some of them."""
    if arrow.types.is_timestamp(column.type):
        return column.cast(arrow.timestamp("ns", column.type.tz)).cast(arrow.int64())
    return column


class _Lines(io.RawIOBase):
    """Chunks of bytes as a stream."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = next(self._chunks, b"")
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size
