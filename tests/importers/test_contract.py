"""What every importer promises, over every one that is registered."""

from __future__ import annotations

import gzip
import json
import os
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.model import made_traces
from trialrun import Step, Trace, read_traces, registry
from trialrun.importers import importer_of, scan
from trialrun.importers._source import NotJson
from trialrun.importers.base import Source
from trialrun.importers.native import is_surely_ours
from trialrun.model.evidence import EVIDENCE

IMPORTERS = registry.importers()
EXAMPLES = 1000 if os.environ.get("HYPOTHESIS_PROFILE") else 20  # `make fuzz`


@pytest.fixture(params=IMPORTERS.values(), ids=list(IMPORTERS))
def importer(request):
    return request.param()


@pytest.fixture
def example(importer, tmp_path):
    file = tmp_path / f"example{importer.suffixes[0]}"
    file.write_text(importer.example, encoding="utf-8")
    return file


def test_a_printed_document_with_small_objects_on_lines_is_not_lines(tmp_path):
    file = tmp_path / "a.json"
    file.write_text('{\n  "parts": [\n    {"n": 1}\n  ],\n  "more": [\n    {"n": 2}\n  ]\n}\n')
    printed = Source(file)
    assert printed.document == {"parts": [{"n": 1}], "more": [{"n": 2}]}
    assert printed.objects == []
    file.write_text('{"n": 1}\n{"n": 2}\n')
    lines = Source(file)
    assert isinstance(lines.document, NotJson)
    assert lines.objects == [{"n": 1}, {"n": 2}]


def test_a_line_with_two_objects_is_read_as_two(tmp_path):
    # A program that was stopped in the middle of a session goes on in the same line.
    file = tmp_path / "a.jsonl"
    file.write_text('{"n": 1}{"n": "}{"}\n{"n": 3} x\n')
    first, second, damaged = Source(file).values()
    assert (first, second) == ((1, {"n": 1}), (1, {"n": "}{"}))
    assert "a.jsonl:2: not JSON" in str(damaged)


def test_it_reads_its_example(importer, example):
    (trace,) = read_traces(example)
    assert trace.output
    assert bool(trace.input) is importer.has_input


def test_its_example_is_recognised_by_no_other_format(importer, example):
    assert type(importer_of(example)) is type(importer)
    source = Source(example)
    others = {name for name, kind in IMPORTERS.items() if name not in (importer.name, "native")}
    assert not {name for name in others if IMPORTERS[name]().recognises(source)}


def test_our_mark_is_in_no_other_format(importer, example, tmp_path):
    """A file with our mark is read without asking the others, so none may take it for its own."""
    assert not is_surely_ours(Source(example))
    made = json.loads(Trace(input="q", output="a", steps=[Step.tool_call("search")]).to_json())
    for name, value in (("lines.jsonl", made), ("document.json", [made]), ("one.json", made)):
        file = tmp_path / name
        file.write_text(json.dumps(value) + "\n")
        assert is_surely_ours(Source(file))
        assert importer.recognises(Source(file)) is (importer.name == "native")


def test_noise_is_not_recognised(importer, tmp_path):
    for noise in (b"", b"\x00\xff", b"[]", b"{", b'"text"', b"null", b'{"type": []}'):
        file = tmp_path / "noise.json"
        file.write_bytes(noise)
        recognised = importer.recognises(Source(file))
        assert not recognised or importer.name == "native"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


def _places(value, path=()):
    """The paths of all values inside a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(item, (*path, key))


def _with(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _decoded(example):
    """The example as a list of lines or as one document; None if it is not JSON."""
    with suppress(ValueError):
        return [json.loads(line) for line in example.splitlines()], True
    with suppress(ValueError):
        return json.loads(example), False
    return None, False


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_json_in_any_place_gives_a_trace_or_a_clear_error(importer, tmp_path, data):
    """Some value of the example is replaced by any JSON value."""
    file = tmp_path / f"changed{importer.suffixes[0]}"
    example, are_lines = _decoded(importer.example)
    if example is None:
        start = data.draw(st.integers(0, len(importer.example)))
        noise = data.draw(st.text(max_size=20))
        text = importer.example[:start] + noise + importer.example[start:]
    else:
        path = data.draw(st.sampled_from(list(_places(example))[are_lines:]))
        changed = _with(example, path, data.draw(JSON))
        text = "\n".join(map(json.dumps, changed)) if are_lines else json.dumps(changed)
    file.write_text(text, encoding="utf-8")
    traces, problems, _ = scan(file)
    assert traces or problems
    assert not [problem for problem in problems if " failed: " in str(problem)], problems
    for trace in traces:
        assert Trace.from_dict(json.loads(trace.to_json())).steps == trace.steps


def test_made_traces_with_our_mark_are_recognised_by_no_other_format(tmp_path):
    others = [kind() for name, kind in IMPORTERS.items() if name != "native"]
    file, ours = tmp_path / "made.json", 0
    for seed in range(40):
        file.write_bytes(made_traces.text(seed))
        source = Source(file)
        if not isinstance(source.document, dict):
            continue
        file.write_text(json.dumps({**source.document, "format_version": 2}))
        ours += is_surely_ours(Source(file))
        source = Source(file)  # decoded once for all of them, as in use
        assert not [other.name for other in others if other.recognises(source)]
    assert ours > 10


def test_a_file_with_one_line_of_another_format_is_looked_at_by_all(tmp_path):
    file = tmp_path / "mixed.jsonl"
    mixed = [{"format_version": 2, "input": "q"}, {"type": "session_meta", "payload": {}}]
    file.write_text("\n".join(map(json.dumps, mixed)))
    assert not is_surely_ours(Source(file))


def test_compressed_files_are_read_as_they_are(importer, example):
    packed = example.with_name(f"{example.name}.gz")
    packed.write_bytes(gzip.compress(example.read_bytes()))
    (plain,), (same,) = read_traces(example), read_traces(packed)
    assert (same.input, same.output, same.steps) == (plain.input, plain.output, plain.steps)


def test_it_reports_what_is_absent(importer, example):
    (trace,) = read_traces(example)
    if importer.name != "native":
        report = trace.metadata["imported"]
        assert report["format"] == importer.name
        assert set(report.get("absent", ())) == EVIDENCE - trace.recorded
        assert trace.recorded <= importer.carries


@pytest.mark.parametrize("folder", ["traces", ".", "./traces/"])
def test_a_folder_is_read_by_a_relative_path(importer, example, folder, tmp_path, monkeypatch):
    (tmp_path / "traces").mkdir()
    example.rename(tmp_path / "traces" / example.name)
    monkeypatch.chdir(tmp_path)
    assert len(read_traces(folder)) == 1


def test_a_crash_is_a_problem_of_that_file(importer, example, tmp_path, monkeypatch):
    def fails(self, source):
        raise KeyError("x")
        yield

    monkeypatch.setattr(type(importer), "records", fails)
    traces, problems, _ = scan(example)
    assert not traces
    assert f"the importer `{importer.name}` failed: KeyError" in str(problems[0])
    assert example.name in str(problems[0])


def test_it_is_documented(importer):
    assert importer.__doc__ and importer.title
    assert all(suffix == suffix.lower() for suffix in importer.suffixes)
