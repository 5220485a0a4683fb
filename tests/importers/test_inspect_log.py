"""Inspect: real logs, members compressed with zstd, logs without a header or without events."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from trialrun import TraceError, read_traces
from trialrun.importers import inspect_log, scan
from trialrun.model.evidence import TOKENS

DATA = Path(__file__).parents[1] / "data" / "formats" / "inspect"


def test_a_log_of_2024_with_a_scorer_that_asks_a_model():
    (trace,) = read_traces(DATA / "2024-11-input-task.eval")
    assert trace.output.startswith("Yo, fam! So, in February, International Falls is totally")
    assert [step.metadata.get("agent") for step in trace.llm_calls] == [None, "scorer"]
    assert trace.total_tokens == 113 + 376
    assert trace.metadata["scores"] == {"model_graded_fact": "C"}


def test_pooled_messages_and_a_model_without_usage():
    (trace,) = read_traces(DATA / "message-deduplication.eval")
    assert trace.input == "Guess the number"
    assert trace.tool_call_sequence == ["bash"] * 5
    assert trace.tool_calls[0].tool_args == {"cmd": "ls"}
    assert trace.tool_calls[0].tool_result.startswith("bin\nboot\n")
    assert (trace.output, len(trace.llm_calls)) == ("done", 6)
    assert TOKENS not in trace.recorded


def packed_with_zstd(source, target):
    """The same archive, with its members as recent versions of Inspect write them."""
    zstandard = pytest.importorskip("zstandard")
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for member in old.infolist():
            data = zstandard.ZstdCompressor().compress(old.read(member))
            new.writestr(member.filename, data, compress_type=zipfile.ZIP_STORED)
    content = bytearray(target.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = content.find(signature)
        while at >= 0:
            content[at + offset : at + offset + 2] = (93).to_bytes(2, "little")
            at = content.find(signature, at + 4)
    target.write_bytes(content)


def test_members_compressed_with_zstd(tmp_path):
    packed_with_zstd(DATA / "message-deduplication.eval", tmp_path / "log.eval")
    with zipfile.ZipFile(tmp_path / "log.eval") as archive:
        assert {member.compress_type for member in archive.infolist()} == {93}
    (plain,) = read_traces(DATA / "message-deduplication.eval")
    (same,) = read_traces(tmp_path / "log.eval")
    assert same.steps == plain.steps


def test_a_log_of_a_run_that_crashed_has_no_header(tmp_path):
    whole = zipfile.ZipFile(DATA / "message-deduplication.eval")
    with whole as old, zipfile.ZipFile(tmp_path / "log.eval", "w") as new:
        for member in old.infolist():
            if member.filename != "header.json":
                new.writestr(member.filename, old.read(member))
    (trace,) = read_traces(tmp_path / "log.eval")
    assert len(trace.tool_calls) == 5


def test_a_cut_archive_is_a_problem(tmp_path):
    data = (DATA / "2024-11-input-task.eval").read_bytes()
    (tmp_path / "log.eval").write_bytes(data[: len(data) // 2])
    with pytest.raises(TraceError):
        read_traces(tmp_path / "log.eval")


def write(tmp_path, **sample):
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, **sample}]}
    (tmp_path / "log.json").write_text(json.dumps(log))
    (trace,) = read_traces(tmp_path / "log.json")
    return trace


def call(name, **arguments):
    return {"id": "c", "function": name, "arguments": arguments}


def test_the_answer_is_what_was_submitted_and_long_texts_are_attachments(tmp_path):
    message = {
        "role": "assistant",
        "content": "let me",
        "tool_calls": [call("submit", answer="42")],
    }
    output = {"choices": [{"message": message}]}
    tool = {"event": "tool", "id": "c", "function": "submit", "result": "attachment://x"}
    trace = write(
        tmp_path,
        input="q",
        output=output,
        events=[{"event": "model", "output": output}, tool],
        attachments={"x": "a long text"},
    )
    assert trace.output == "42"
    assert trace.tool_calls[0].tool_result == "a long text"


def test_a_log_without_events_is_read_from_its_messages(tmp_path):
    asked = {"role": "assistant", "content": "", "tool_calls": [call("look", q="x")]}
    found = {"role": "tool", "tool_call_id": "c", "content": "no", "error": {"message": "failed"}}
    said = {"role": "assistant", "content": "done"}
    trace = write(tmp_path, input="q", messages=[asked, found, said], output={})
    (look,) = trace.tool_calls
    assert (look.tool_args, look.status.value, trace.output) == ({"q": "x"}, "failure", "done")


@pytest.mark.parametrize(
    ("total", "expected"),
    [(120, 120), (120 + 64, 184)],  # cached tokens inside the input, or beside it
)
def test_the_total_says_whether_cached_tokens_are_in_the_input(tmp_path, total, expected):
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": total}
    usage["input_tokens_cache_read"] = 64
    output = {"model": "gpt-4o", "usage": usage, "choices": [{"message": {"content": "a"}}]}
    trace = write(tmp_path, input="q", output=output, events=[{"event": "model", "output": output}])
    assert trace.total_tokens == expected


SAMPLE = json.dumps({"id": 1, "input": "q", "messages": [{"role": "assistant", "content": "a"}]})


def archive_of(file, methods=None, **samples):
    """An archive with these samples, by their name."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"eval": {"task": "t", "model": "m"}}')
        for name, data in samples.items():
            method = (methods or {}).get(name, zipfile.ZIP_DEFLATED)
            archive.writestr(f"samples/{name}.json", data, compress_type=method)


def good_and_bad(file):
    traces, problems, _ = scan(file)
    return [trace.input for trace in traces], [str(problem) for problem in problems]


def with_size(file, name, size):
    """Give a member another size in the list at the archive's end."""
    data = bytearray(file.read_bytes())
    at = data.rindex(f"samples/{name}.json".encode()) - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    data[at + 24 : at + 28] = size.to_bytes(4, "little")
    file.write_bytes(data)


def test_a_member_with_a_wrong_size_is_not_unpacked_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_log, "MAX_BYTES", 2**20)
    file = tmp_path / "log.eval"
    archive_of(file, bomb=b" " * (60 * 2**20), good=SAMPLE)
    with_size(file, "bomb", 10)
    tracemalloc.start()
    inputs, problems = good_and_bad(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert inputs == ["q"] and len(problems) == 1 and "samples/bomb.json" in problems[0]
    assert peak < 20 * 2**20


def test_a_member_that_is_too_long_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_log, "MAX_BYTES", 2**20)
    archive_of(tmp_path / "log.eval", bomb=b" " * (2 * 2**20), good=SAMPLE)
    inputs, problems = good_and_bad(tmp_path / "log.eval")
    assert inputs == ["q"] and "samples/bomb.json: longer than" in problems[0]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_have_no_limit_are_refused(tmp_path, method):
    archive_of(tmp_path / "log.eval", {"bad": method}, bad=SAMPLE, good=SAMPLE)
    inputs, problems = good_and_bad(tmp_path / "log.eval")
    assert inputs == ["q"] and "samples/bad.json: compressed in a way" in problems[0]


def test_a_bad_sample_does_not_hide_the_others(tmp_path):
    archive_of(tmp_path / "log.eval", one=SAMPLE, bad="{", list="[]", two=SAMPLE)
    inputs, problems = good_and_bad(tmp_path / "log.eval")
    assert inputs == ["q", "q"]
    assert "samples/bad.json" in problems[0] and "not an object" in problems[1]


def test_damaged_members_do_not_hide_the_others(tmp_path):
    file = tmp_path / "log.eval"
    archive_of(file, {"bad": zipfile.ZIP_STORED}, bad=SAMPLE, good=SAMPLE)
    file.write_bytes(file.read_bytes().replace(b'"id": 1', b'"id": 2', 1))  # not its checksum
    inputs, problems = good_and_bad(file)
    assert inputs == ["q"] and "samples/bad.json" in problems[0]


def test_a_damaged_header_does_not_hide_the_samples(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{")
        archive.writestr("samples/one.json", SAMPLE)
    inputs, problems = good_and_bad(tmp_path / "log.eval")
    assert inputs == ["q"] and "header.json" in problems[0]


def test_a_damaged_member_of_zstd_does_not_hide_the_others(tmp_path):
    archive_of(tmp_path / "plain.eval", bad=SAMPLE.replace("q", "unlike"), good=SAMPLE)
    packed_with_zstd(tmp_path / "plain.eval", tmp_path / "log.eval")
    data = (tmp_path / "log.eval").read_bytes()
    frame = data.index(b"\x28\xb5\x2f\xfd", data.index(b"samples/bad.json"))
    (tmp_path / "log.eval").write_bytes(data[:frame] + b"\0\0\0\0" + data[frame + 4 :])
    inputs, problems = good_and_bad(tmp_path / "log.eval")
    assert inputs == ["q"] and "samples/bad.json" in problems[0]
