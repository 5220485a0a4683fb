"""Native trace files: JSON, lists, lines; one bad record does not affect the others."""

from __future__ import annotations

import pytest

from trialrun import Step, Trace, TraceError, TraceWarning, UsageError, read_traces, write_traces
from trialrun.importers import _lines as lines
from trialrun.importers import scan

ONE = Trace(input="one", output="1", steps=[Step.tool_call("a")])
TWO = Trace(input="two", output="2")


def test_lines(tmp_path):
    file = tmp_path / "t.jsonl"
    write_traces([ONE, TWO], file)
    assert read_traces(file) == [ONE, TWO]
    written = file.read_bytes()
    write_traces(read_traces(file), file)
    assert file.read_bytes() == written


def test_one_object_over_many_lines(tmp_path):
    file = tmp_path / "t.json"
    file.write_text('{\n  "input": "one",\n  "output": "1"\n}\n')
    assert [trace.input for trace in read_traces(file)] == ["one"]


def test_a_list(tmp_path):
    file = tmp_path / "t.json"
    file.write_bytes(b"[" + ONE.to_json() + b",\n" + TWO.to_json() + b"]")
    assert read_traces(file) == [ONE, TWO]


def test_lines_in_a_file_of_another_ending(tmp_path):
    file = tmp_path / "t.json"
    file.write_bytes(ONE.to_json() + b"\n" + TWO.to_json())
    assert read_traces(file) == [ONE, TWO]


def test_a_folder(tmp_path):
    (tmp_path / "below").mkdir()
    write_traces([ONE], tmp_path / "a.json")
    write_traces([TWO], tmp_path / "below" / "b.jsonl")
    (tmp_path / "notes.txt").write_text("not a trace")
    assert read_traces(tmp_path) == [ONE, TWO]


def test_a_trace_in_a_file_with_the_name_of_settings(tmp_path):
    write_traces([ONE], tmp_path / "a.json")
    write_traces([TWO], tmp_path / "settings.json")
    assert scan(tmp_path) == ([ONE, TWO], [], [])
    (tmp_path / "a.json").unlink()
    assert read_traces(tmp_path) == [TWO]


def test_a_file_of_settings_is_left_out_with_a_note(tmp_path):
    (tmp_path / "settings.json").write_text('{"model": "x"}')
    with pytest.raises(UsageError, match="no trace here"):
        scan(tmp_path)
    write_traces([ONE], tmp_path / "a.json")
    traces, problems, (note,) = scan(tmp_path)
    assert (traces, problems) == ([ONE], [])
    assert "settings.json" in str(note) and "left out" in str(note)
    assert scan(tmp_path / "settings.json")[1] != []


def test_blank_lines_windows_line_ends_and_a_byte_order_mark(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + ONE.to_json() + b"\r\n\r\n" + TWO.to_json() + b"\r\n")
    assert read_traces(file) == [ONE, TWO]


def test_a_bad_line_is_named_and_the_others_are_read(tmp_path):
    file = tmp_path / "t.jsonl"
    lines = [ONE.to_json(), b'{"input": "x", "out', b'{"output": 1}', TWO.to_json()]
    file.write_bytes(b"\n".join(lines))
    traces, problems, notes = scan(file)
    assert (traces, notes) == ([ONE, TWO], [])
    assert [(problem.line, problem.file) for problem in problems] == [
        (2, str(file)),
        (3, str(file)),
    ]
    with pytest.raises(TraceError) as refusal:
        read_traces(file)
    assert f"{file}:2: the JSON is cut off" in str(refusal.value)


def test_a_bad_item_of_a_list_is_named(tmp_path):
    file = tmp_path / "t.json"
    file.write_bytes(b"[" + ONE.to_json() + b", 3]")
    traces, problems, _ = scan(file)
    assert traces == [ONE]
    assert "[1]: a trace is a JSON object" in str(problems[0])


def test_a_damaged_document_is_one_problem(tmp_path):
    file = tmp_path / "t.json"
    file.write_text('{\n  "input": "one",\n  "steps": [\n')
    traces, problems, _ = scan(file)
    assert traces == [] and len(problems) == 1


def test_a_line_that_is_too_long_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "MAX_BYTES", 400)
    monkeypatch.setattr(lines, "_CHUNK", 64)
    file = tmp_path / "t.jsonl"
    long = Trace(input="x" * 1000).to_json()
    file.write_bytes(ONE.to_json() + b"\n" + long + b"\n" + TWO.to_json() + b"\n" + long)
    traces, problems, _ = scan(file)
    assert traces == [ONE, TWO]
    assert [problem.line for problem in problems] == [2, 4]


def test_a_warning_names_the_place_of_a_value_that_was_left_out(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"input": "q", "duration_ms": -1}\n')
    with pytest.warns(TraceWarning, match=r"t\.jsonl:1: duration_ms: -1 is not a usable number"):
        read_traces(file)


def test_an_empty_file_holds_no_trace(tmp_path):
    for name in ("t.json", "t.jsonl"):
        (tmp_path / name).write_bytes(b"\n")
        assert "holds no trace" in str(scan(tmp_path / name)[1][0])


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_traces(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="no trace here"):
        read_traces(tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    file = tmp_path / "t.jsonl"
    write_traces([ONE], file)

    def broken():
        yield TWO
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        write_traces(broken(), file)
    assert read_traces(file) == [ONE]
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_a_call_whose_type_is_not_a_text_is_reported_and_not_a_crash(tmp_path):
    file = tmp_path / "traces.json"
    file.write_text('{"input": "a", "output": "b", "tool_calls": {"type": []}}', encoding="utf-8")
    traces, problems, _ = scan(file)
    assert traces or problems
    assert " failed: " not in "".join(map(str, problems))
