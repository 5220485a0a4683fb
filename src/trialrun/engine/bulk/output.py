"""Write all rows to a file, `.jsonl` or `.parquet`, which is there whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec

from trialrun.errors import StoreWriteError, UsageError
from trialrun.util.files import is_folder, reason, replacement_for

SUFFIXES = (".jsonl", ".parquet")
_BATCH = 2_000


def is_rows(output: str | None) -> bool:
    """Whether the file is to have rows: its ending says so."""
    return output is not None and Path(output).suffix.lower() in SUFFIXES


def parts_of(output: Path) -> Path:
    """The folder in which the parts of this output are kept until all are there."""
    return output.with_name(f"{output.name}.parts")


def require_target(output: Path) -> None:
    """Refuse an output that cannot be written, before anything is judged."""
    if is_folder(output):
        raise UsageError(f"{output}: cannot be written: it is a folder")
    if not is_folder(output.parent):
        raise UsageError(f"{output}: cannot be written: there is no folder {output.parent}")
    if output.suffix.lower() == ".parquet":
        _arrow()


@contextmanager
def rows_to(output: Path) -> Iterator[IO[bytes]]:
    """A stream for rows, which become the file when the block ends without an error."""
    try:
        with replacement_for(output) as temporary:
            if output.suffix.lower() != ".parquet":
                with temporary.open("w+b") as rows:
                    yield rows
                return
            import tempfile

            with tempfile.TemporaryFile(prefix="trialrun-", dir=output.parent) as spooled:
                yield spooled
                write_parquet(spooled, temporary)
    except OSError as error:
        raise StoreWriteError(f"{output}: cannot be written: {reason(error)}") from None


def write_parquet(rows: IO[bytes], target: Path) -> None:
    """The rows as Parquet: a table with lists of checks and of metrics."""
    arrow, parquet = _arrow()
    schema = _schema(arrow)
    rows.flush()
    rows.seek(0)
    decode = msgspec.json.Decoder().decode
    with parquet.ParquetWriter(target, schema) as writer:
        while batch := [_record(decode(line)) for line in islice(rows, _BATCH)]:
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))


def _record(row: dict[str, Any]) -> dict[str, Any]:
    """A row with what differs in type from row to row as JSON."""
    for check in row["checks"]:
        check["data"] = _json(check.get("data"))
        check["verdicts"] = _json(check.get("verdicts"))
    row["metrics"] = [
        {
            "name": metric["metric_name"],
            "value": metric["value"],
            "unit": metric.get("unit"),
            "error": metric.get("error"),
            "details": _json(metric.get("details")),
        }
        for metric in row["metrics"]
    ]
    row["layers"] = list(row["layers"].items())
    for name in ("failed_calls", "turns", "judge"):
        row[name] = _json(row.get(name))
    return row


def _json(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _schema(arrow: Any) -> Any:
    text, number, whole = arrow.string(), arrow.float64(), arrow.int64()
    check = {"layer": text, "name": text, "status": text, "severity": text, "reason": text}
    check |= {"turn": whole, "data": text, "verdicts": text}
    metric = {"name": text, "value": number, "unit": text, "error": text, "details": text}
    fields = {
        "attempt": whole,
        "suite": text,
        "case": text,
        "status": text,
        "trace_id": text,
        "error": text,
        "model": text,
        "day": text,
        "tags": arrow.list_(text),
        "duration_ms": number,
        "total_tokens": whole,
        "cost_usd": number,
        "question": text,
        "answer": text,
        "layers": arrow.map_(text, text),
        "checks": arrow.list_(arrow.struct(list(check.items()))),
        "metrics": arrow.list_(arrow.struct(list(metric.items()))),
        "earlier_errors": arrow.list_(text),
        "failed_calls": text,
        "turns": text,
        "judge": text,
        "agent": text,
    }
    return arrow.schema(list(fields.items()))


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "Parquet needs pyarrow: pip install '.[parquet]' (in a clone), or write .jsonl"
        ) from None
    return pyarrow, parquet
