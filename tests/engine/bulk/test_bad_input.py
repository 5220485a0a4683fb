"""Bad input in bulk: bounded, with its place, and the other traces are judged."""

from __future__ import annotations

import gzip
import json
import shutil
import tracemalloc

import pytest

from tests.importers.recordings import FORMATS
from trialrun import Trace, load_suite, write_traces
from trialrun.engine.bulk.scoring import Bulk, on_this_machine, score_in_bulk
from trialrun.importers import _lines, _source, native

SPEC = "queries:\n  - {name: policy, match: all, path: {max_steps: 1000}}\n"
GOOD = Trace(input="q", output="1", steps=[]).to_json() + b"\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "t").mkdir()
    return tmp_path / "t"


def scored(folder, size=3000):
    bulk = Bulk([load_suite(folder.parent / "spec.yaml")], [folder], chunk_size=size)
    return score_in_bulk(bulk, engine=on_this_machine(1)).run


def broken(run):
    return [text for text in run.warnings if text.endswith("(not judged)")]


@pytest.fixture
def short_lines(monkeypatch):
    """The limit of a line is 10,000 bytes in place of 64 MiB."""
    for module in (_lines, _source, native):
        monkeypatch.setattr(module, "MAX_BYTES", 10_000)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_a_line_without_end_is_skipped_and_not_loaded(folder, name, short_lines):
    """In place of a line of 1 GB and of a gzip bomb: 12 MB, which are 12 KB when compressed."""
    content = GOOD * 3 + b'{"input": "' + b"a" * 12_000_000 + b'"}\n' + GOOD * 4
    (folder / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    write_traces([Trace(input="q", output="1", steps=[])], folder / "other.json")
    bulk = Bulk([load_suite(folder.parent / "spec.yaml")], [folder], chunk_size=50_000)
    score_in_bulk(bulk, engine=on_this_machine(1))  # imports what is needed
    tracemalloc.start()
    run = score_in_bulk(bulk, engine=on_this_machine(1)).run
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [result.status.value for result in run.results] == ["pass"] * 8
    (problem,) = broken(run)
    assert f"{name}:4: longer than" in problem
    assert run.exit_code() == 3
    assert peak < 5_000_000  # a line is skipped by the megabyte


def test_a_compressed_file_that_is_cut_off(folder):
    whole = gzip.compress(GOOD * 2000)
    (folder / "a.jsonl.gz").write_bytes(whole[: len(whole) * 9 // 10])
    write_traces([Trace(input="q", output="1", steps=[])], folder / "b.json")
    run = scored(folder)
    assert len(run.results) > 500
    assert any("the compressed file is damaged" in text for text in broken(run))


def test_mixed_formats_in_one_folder(folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (folder / "ours.jsonl").write_bytes(GOOD * 50)
    otlp = "made-pydantic-ai-2.66.pb"
    shutil.copy(FORMATS / "otlp" / otlp, folder / otlp)
    rows = "made-pydantic-ai-2.66.otel_traces.jsonl"
    shutil.copy(FORMATS / "clickhouse" / rows, folder / rows)
    parquet.write_table(pyarrow.table({"a": [1], "b": ["x"]}), folder / "other.parquet")
    (folder / "README.md").write_text("# Traces\n")
    (folder / "binary.json").write_bytes(bytes(range(256)))
    run = scored(folder)
    assert sum(result.error is None for result in run.results) == 50 + 2 + 2
    assert run.unreadable == 1
    assert "binary.json" in broken(run)[0]


@pytest.mark.parametrize("size", [2000, 10**9])
def test_very_many_broken_lines_are_counted_and_the_first_are_listed(folder, size):
    (folder / "t.jsonl").write_bytes(GOOD + b'{"input": "x", \n' * 5000 + GOOD)
    run = scored(folder, size)
    assert (run.unreadable, run.traces, len(run.results)) == (5000, 5002, 2)
    found = broken(run)
    assert len(found) == 101
    assert "t.jsonl:2: " in found[0] and "t.jsonl:101: " in found[99]
    assert found[100].endswith("and 4,900 more that cannot be read (not judged)")


def test_a_file_that_goes_away_while_it_is_scored(folder):
    (folder / "a.jsonl").write_bytes(GOOD)
    (folder / "b.jsonl").write_bytes(GOOD)
    bulk = Bulk([load_suite(folder.parent / "spec.yaml")], [folder])
    (folder / "a.jsonl").unlink()
    run = score_in_bulk(bulk).run
    assert [result.status.value for result in run.results] == ["pass"]
    assert "a.jsonl" in broken(run)[0]
    assert run.exit_code() == 3


def test_a_trace_that_the_export_cut_is_incomplete_and_may_be_allowed(folder):
    lines = (FORMATS / "clickhouse" / "made-pydantic-ai-2.66.otel_traces.jsonl").read_text()
    rows = [json.loads(line) for line in lines.splitlines()]
    root = next(row for row in rows if not row["ParentSpanId"])
    text = "".join(json.dumps(row) + "\n" for row in rows if row is not root)
    (folder / "t.jsonl").write_text(text)
    spec = [load_suite(folder.parent / "spec.yaml")]
    for allowed, code in ((None, 3), (0.5, 0)):
        run = score_in_bulk(Bulk(spec, [folder]), allow_incomplete=allowed).run
        assert sorted(result.status.value for result in run.results) == ["error", "pass"]
        assert (run.incomplete_traces, run.traces) == (1, 2)
        assert run.exit_code() == code
