"""`trialrun export`: a recorded run for other tools, one attempt per line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trialrun.cli.output import put, say
from trialrun.cli.stores import store_option
from trialrun.errors import UsageError
from trialrun.util.files import reason, replace_file

if TYPE_CHECKING:
    from trialrun.store.records import RunRecord
    from trialrun.store.store import Store

_ROWS_IN_A_GROUP = 1000  # a group for each row would make files that are slow to read
_FORMATS = {".jsonl": "jsonl", ".parquet": "parquet"}


@click.command("export")
@click.argument("run", default="latest")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="A `.jsonl` file, or `.parquet` (needs pyarrow) [default: JSONL on stdout].",
)
@click.option("--traces", is_flag=True, help="Include the whole trace of each attempt.")
@store_option
def command(run: str, output: str | None, traces: bool, store: str | None) -> int:
    """Write every attempt of RUN (default: `latest`): case, attempt, status, layers, metrics."""
    from trialrun.store import open_store

    form = _FORMATS.get(Path(output).suffix.lower()) if output else "jsonl"
    if form is None:
        raise UsageError(f"{output}: expected a file name that ends in .jsonl or .parquet")
    with open_store(store, create=False) as opened:
        record = opened.find_run(run)
        if output is None:
            for line in _lines(opened, record, traces):
                put(line.decode(), for_machines=True)
            return 0
        target = Path(output)
        try:
            if form == "parquet":
                _write_parquet(target, opened, record, traces)
            else:
                replace_file(target, _lines(opened, record, traces))
        except (OSError, ValueError) as error:
            raise UsageError(f"{target}: cannot be written: {reason(error)}") from None
        say(f"run {record.id} written to {target}")
    return 0


def _rows(store: Store, record: RunRecord, traces: bool) -> Iterator[dict[str, Any]]:
    from trialrun.engine.stored_run import with_missing
    from trialrun.reports.json import cleaned, result_row

    for result, trace in with_missing(store, record, traces):
        row = {"run": record.id, **result_row(result)}
        if traces:
            row["trace"] = None if trace is None else trace.to_dict()
        yield cleaned(row)


def _lines(store: Store, record: RunRecord, traces: bool) -> Iterator[bytes]:
    import msgspec

    from trialrun.reports.views.printable import escaped_json

    for row in _rows(store, record, traces):
        yield escaped_json(msgspec.json.encode(row).decode()).encode() + b"\n"


def _write_parquet(target: Path, store: Store, record: RunRecord, traces: bool) -> None:
    """Nested values are written as JSON text, which every reader of Parquet accepts."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "Parquet needs pyarrow: pip install '.[parquet]' (in a clone), or export .jsonl"
        ) from None
    import msgspec

    from trialrun.util.files import replacement_for

    text, number, whole = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    kinds = {
        "run": text, "suite": text, "agent": text, "case": text, "attempt": whole, "status": text,
        "error": text, "trace_id": text, "tags": pyarrow.list_(text), "duration_ms": number,
        "total_tokens": whole, "cost_usd": number, "layers": text, "metrics": text,
    }  # fmt: skip
    if traces:
        kinds["trace"] = text
    schema = pyarrow.schema(list(kinds.items()))
    with replacement_for(target) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        rows = _rows(store, record, traces)
        while group := list(islice(rows, _ROWS_IN_A_GROUP)):
            for row in group:
                for key in ("layers", "metrics", "trace"):
                    if key in row:
                        row[key] = msgspec.json.encode(row[key]).decode()
            writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
