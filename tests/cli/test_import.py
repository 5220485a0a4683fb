"""`trialrun import` and `inspect`: recordings as traces, with what they hold and lack."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
from pathlib import Path

import pytest

from trialrun import Step, TokenUsage, Trace, read_traces
from trialrun.cli.main import main

SESSION = Path(__file__).parents[1] / "data" / "claude-code" / "read-tool-variants.jsonl"


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*map(str, arguments)])
    return code, out.getvalue(), err.getvalue()


def test_a_session_is_reported_and_written(tmp_path):
    code, out, err = run("import", SESSION, "-o", tmp_path / "out.jsonl")
    assert code == 0, err
    assert "claude_code · 1 trace · 5 model calls · 4 tool calls · 106,317 tokens" in out
    assert "not recorded: costs" in out
    (before,), (after,) = read_traces(SESSION), read_traces(tmp_path / "out.jsonl")
    assert (after.steps, after.recorded) == (before.steps, before.recorded)
    assert after.metadata == before.metadata


def test_native_traces_come_through_without_loss(tmp_path):
    steps = [
        Step.llm_call("m", "in", "out", TokenUsage(3, 4, cached_tokens=2), cost_usd=0.01),
        Step.tool_call("find", {"q": "ü"}, {"hits": []}, duration_ms=3.0, parent_id="1"),
        Step.handoff("billing"),
    ]
    trace = Trace(id="t", name="n", input="q", output={"a": [1]}, steps=steps, metadata={"k": "v"})
    (tmp_path / "in.json").write_bytes(trace.to_json())
    assert run("import", tmp_path / "in.json", "-o", tmp_path / "out.jsonl")[0] == 0
    assert (tmp_path / "out.jsonl").read_bytes() == trace.to_json() + b"\n"


def test_what_cannot_be_read_is_named_and_the_rest_is_written(tmp_path):
    lines = ['{"input": "a", "output": "b"}', '{"output": "no input"}', "{torn"]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    code, out, err = run("import", tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl")
    assert code == 3
    assert "1 trace" in out
    assert "in.jsonl:2: `input` is missing" in err and "2 records could not be read" in err
    assert len(read_traces(tmp_path / "out.jsonl")) == 1


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ([{"query": "q", "expected_tool_use": [], "reference": "r"}], "evaluation set"),
        ({"eval_set_id": "e", "eval_cases": []}, "evaluation set"),
        ([{"name": "n", "data": [{"query": "q", "expected_tool_use": []}]}], "evaluation set"),
        ({"name": "x", "lockfileVersion": 3, "packages": {}}, "package-lock.json"),
        ([{"input": "q", "expected_output": "a", "expected_tools": ["f"]}], "a data set"),
    ],
)
def test_files_without_a_recording_are_named(tmp_path, content, what):
    (tmp_path / "in.json").write_text(json.dumps(content))
    code, out, err = run("import", tmp_path / "in.json")
    assert (code, out) == (3, "")
    assert what in err and "no trace is read from it" in err


@pytest.mark.parametrize("content", ['{"foo": 1}', '[{"role": "x"}]', "a,b\n1,2\n"])
def test_an_unknown_format_is_said_to_be_one(tmp_path, content):
    (tmp_path / "in.json").write_text(content)
    code, out, err = run("import", tmp_path / "in.json")
    assert (code, out) == (3, "")
    assert "no other known format is recognised in it either (docs/formats.md)" in err


def test_a_folder_with_other_files_is_read(tmp_path):
    (tmp_path / "README.md").write_text("# About these traces\n")
    (tmp_path / "spec.yaml").write_text("version: 1\n")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"input": "a", "output": "b"}\n'))
    code, out, err = run("import", tmp_path)
    assert (code, err) == (0, "")
    assert "a.jsonl.gz: native · 1 trace" in out


def test_a_damaged_compressed_file_is_a_problem(tmp_path):
    whole = gzip.compress(b'{"input": "a", "output": "b"}\n' * 100)
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    code, _, err = run("import", tmp_path / "a.jsonl.gz")
    assert code == 3
    assert "the compressed file is damaged" in err


def test_a_damaged_file_does_not_keep_the_others_from_being_read(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    line = b'{"input": "a", "output": "b"}\n' * 200
    packed = bytearray(gzip.compress(line))
    packed[20:40] = b"\xff" * 20
    (tmp_path / "a.jsonl.gz").write_bytes(packed)
    packed = bytearray(zstandard.ZstdCompressor().compress(line))
    packed[8:] = b"\xff" * 20
    (tmp_path / "b.jsonl.zst").write_bytes(packed)
    (tmp_path / "good.jsonl").write_bytes(line)
    code, out, err = run("import", tmp_path)
    assert code == 3
    assert "good.jsonl: native · 200 traces" in out
    assert err.count("the compressed file is damaged") == 2


def test_zstd_is_read(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    data = zstandard.ZstdCompressor().compress(b'{"input": "a", "output": "b"}\n' * 3)
    (tmp_path / "a.jsonl.zst").write_bytes(data)
    code, out, _ = run("import", tmp_path / "a.jsonl.zst")
    assert code == 0 and "3 traces" in out


def test_output_must_be_lines(tmp_path):
    code, _, err = run("import", SESSION, "-o", tmp_path / "out.json")
    assert code == 2 and "ends in .jsonl" in err


def test_a_timeline(tmp_path):
    steps = [
        Step.llm_call("gpt-5", output="Let me look.", tokens=TokenUsage(10, 5), id="r"),
        Step.tool_call("find", {"order": "12"}, "no such order", status="failure", parent_id="r"),
        Step.human_input("Order 13, then."),
    ]
    trace = Trace(name="refund", input="My money!", output="Done.\x1b[2J", steps=steps)
    (tmp_path / "in.json").write_bytes(trace.to_json())
    code, out, _ = run("inspect", tmp_path / "in.json")
    assert code == 0
    assert '  user     "My money!"' in out
    assert '  model    gpt-5: "Let me look."  [15 tokens]' in out
    assert '  call       find(order: "12") failed: "no such order"' in out
    assert '  user     "Order 13, then."' in out
    assert "\x1b" not in out and "Done.\\x1b" in out


def test_one_of_several_traces_is_shown(tmp_path):
    lines = [Trace(name=f"n{index}", input="q", output="a").to_json() for index in range(7)]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    code, out, err = run("inspect", tmp_path / "in.jsonl")
    assert code == 0 and out.count("answer ") == 5 and "2 more" in err
    assert run("inspect", tmp_path / "in.jsonl", "--trace", "n6")[1].startswith("n6\n")
    assert run("inspect", tmp_path / "in.jsonl", "--trace", "7")[1].startswith("n6\n")
    code, _, err = run("inspect", tmp_path / "in.jsonl", "--trace", "x")
    assert code == 2 and "no trace `x` among 7 traces" in err
