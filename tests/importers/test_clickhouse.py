"""Rows of `otel_traces`, and Parquet files: the same trace as from the collector, in two passes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.importers.recordings import FORMATS
from trialrun import read_traces
from trialrun.importers import _parquet, importer_of, scan

ROWS = "clickhouse/made-pydantic-ai-2.66.otel_traces.jsonl"
OTLP = "otlp/made-pydantic-ai-2.66.pb"


def all_rows():
    return [json.loads(line) for line in (FORMATS / ROWS).read_text().splitlines()]


def rows():
    """The rows of the longer one of its two traces."""
    by_trace = {}
    for row in all_rows():
        by_trace.setdefault(row["TraceId"], []).append(row)
    return max(by_trace.values(), key=len)


def original():
    """The trace of these rows as the collector wrote it."""
    (found,) = (one for one in read_traces(FORMATS / OTLP) if one.id == rows()[0]["TraceId"])
    return found


def written(file, items):
    file.write_text("".join(json.dumps(item) + "\n" for item in items))
    return file


def without_names(trace):
    """All but the name of the format."""
    return {**trace.to_dict(), "metadata": None}


def test_the_rows_are_the_trace_that_the_collector_writes():
    found, wanted = read_traces(FORMATS / ROWS), read_traces(FORMATS / OTLP)
    assert len(found) == 2
    assert list(map(without_names, found)) == list(map(without_names, wanted))


def test_traces_that_lie_in_each_other_are_read_one_by_one(tmp_path):
    """Rows of two traces by turns; both are whole, the one that ends first comes first."""
    first = rows()
    second = [{**row, "TraceId": "f" * 32} for row in first]
    mixed = [row for pair in zip(first, second, strict=True) for row in pair]
    found = read_traces(written(tmp_path / "t.jsonl", mixed))
    assert [trace.id for trace in found] == [first[0]["TraceId"], "f" * 32]
    assert all(trace.output == original().output for trace in found)


def test_a_trace_whose_root_is_not_in_the_export_is_incomplete_and_not_failed(tmp_path):
    spans = [row for row in rows() if row["ParentSpanId"]]
    (trace,) = read_traces(written(tmp_path / "t.jsonl", spans))
    assert trace.output is None
    assert trace.metadata["unfinished"].startswith("the export has no root of this trace")


def test_a_trace_of_which_a_parent_is_missing_is_incomplete(tmp_path):
    spans = rows()
    next(row for row in spans if row["ParentSpanId"])["ParentSpanId"] = "00f067aa0ba902b7"
    (trace,) = read_traces(written(tmp_path / "t.jsonl", spans))
    assert trace.output is None
    assert trace.metadata["unfinished"] == "the parents of 1 span are not in the export"


def test_a_span_that_answers_a_request_may_have_its_parent_elsewhere(tmp_path):
    spans = rows()
    (root,) = (row for row in spans if not row["ParentSpanId"])
    root |= {"ParentSpanId": "00f067aa0ba902b7", "SpanKind": "Server"}
    (trace,) = read_traces(written(tmp_path / "t.jsonl", spans))
    assert trace.output == original().output


def test_times_keep_their_nanoseconds(tmp_path):
    from trialrun.importers.clickhouse import span_of_row

    row = {**rows()[0], "Timestamp": "2026-07-18 10:00:00.123456789", "Duration": "1000"}
    span = span_of_row(row)
    assert (span.start % 10**9, span.end - span.start) == (123456789, 1000)


# Parquet


def as_parquet(file, items, arrow, parquet):
    """As ClickHouse writes it: maps, times in nanoseconds, whole numbers."""
    maps = arrow.map_(arrow.string(), arrow.string())
    columns = {}
    for name in ("TraceId", "SpanId", "ParentSpanId", "SpanName", "SpanKind", "ServiceName"):
        columns[name] = arrow.array([item[name] for item in items])
    for name in ("ScopeName", "StatusCode", "StatusMessage"):
        columns[name] = arrow.array([item[name] for item in items])
    for name in ("SpanAttributes", "ResourceAttributes"):
        columns[name] = arrow.array([list(item[name].items()) for item in items], maps)
    times = []
    for item in items:
        seconds, _, rest = item["Timestamp"].partition(".")
        moment = datetime.fromisoformat(seconds).replace(tzinfo=UTC)
        times.append(int(moment.timestamp()) * 10**9 + int(rest))
    columns["Timestamp"] = arrow.array(times, arrow.timestamp("ns", "UTC"))
    columns["Duration"] = arrow.array([int(item["Duration"]) for item in items], arrow.uint64())
    parquet.write_table(arrow.table(columns), file)
    return file


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow")


def test_a_parquet_export_of_clickhouse_is_the_same_trace(tmp_path, arrow):
    from pyarrow import parquet

    file = as_parquet(tmp_path / "spans.parquet", rows(), arrow, parquet)
    assert importer_of(file).name == "clickhouse"
    (trace,) = read_traces(file)
    assert without_names(trace) == without_names(original())
    assert [one.id for one in read_traces(tmp_path)] == [trace.id]  # found in a folder, too


def test_langsmith_s_bulk_export_is_read_by_trace(tmp_path, arrow):
    """Ids and times have their own types there; inputs and outputs are JSON in texts."""
    from pyarrow import parquet

    at = datetime(2026, 7, 7, 16, 15, 57, 114896, UTC)
    runs = []
    for number in range(3):
        for kind in ("chain", "llm"):
            said = {"messages": [{"role": "user", "content": f"question {number}"}]}
            reply = {"choices": [{"message": {"role": "assistant", "content": f"answer {number}"}}]}
            runs.append(
                {
                    "id": f"{kind}-{number}",
                    "trace_id": f"chain-{number}",
                    "parent_run_id": None if kind == "chain" else f"chain-{number}",
                    "name": kind,
                    "run_type": kind,
                    "start_time": at,
                    "end_time": at,
                    "inputs": json.dumps(said),
                    "outputs": json.dumps(reply),
                }
            )
    runs.sort(key=lambda run: run["id"])  # the runs of a trace are far apart
    parquet.write_table(arrow.Table.from_pylist(runs), tmp_path / "runs.parquet")
    found = read_traces(tmp_path / "runs.parquet")
    assert [trace.input for trace in found] == [f"question {number}" for number in range(3)]
    assert [trace.output for trace in found] == [f"answer {number}" for number in range(3)]


def test_rows_are_read_a_few_at_a_time(tmp_path, arrow, monkeypatch):
    from pyarrow import parquet

    monkeypatch.setattr(_parquet, "_ROWS", 2)
    items = [{"input": "x" * 100, "output": str(number)} for number in range(7)]
    parquet.write_table(arrow.Table.from_pylist(items), tmp_path / "t.parquet")
    # Columns of trialrun's own format are read, too.
    assert [trace.output for trace in read_traces(tmp_path / "t.parquet")] == list("0123456")


def test_other_columns_are_a_clear_error(tmp_path, arrow):
    from pyarrow import parquet

    parquet.write_table(arrow.table({"a": [1], "b": ["x"]}), tmp_path / "t.parquet")
    traces, problems, _ = scan(tmp_path / "t.parquet")
    assert traces == []
    assert "no other known format is recognised in it" in str(problems[0])


def test_a_damaged_parquet_file_is_a_problem_of_that_file(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + b"\0" * 100)
    traces, problems, _ = scan(tmp_path / "t.parquet")
    assert traces == []
    assert "damaged, or not Parquet" in str(problems[0])
