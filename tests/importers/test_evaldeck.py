"""evaldeck: a trace that its LangChain runner recorded, made by the real library."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.importers.recordings import FORMATS, read, read_value, report
from tests.scripted_models import ANSWER, QUESTION
from trialrun.importers import importer_of

FILE = FORMATS / "evaldeck/made-0.1.5.json.gz"


@pytest.fixture
def written():
    return json.loads(gzip.decompress(FILE.read_bytes()))


def test_messages_in_json_and_names_of_arguments_are_recovered():
    assert importer_of(FILE).name == "evaldeck"
    trace = read("evaldeck/made-0.1.5.json.gz")
    assert (trace.input, trace.output) == (QUESTION, ANSWER)
    assert [call.tokens.total_tokens for call in trace.llm_calls] == [120, 120]
    calls = sorted(trace.tool_calls, key=lambda call: call.tool_result)
    assert [(call.tool_args, call.tool_result) for call in calls] == [
        ({"of": "tea"}, "2"),
        ({"of": "rum"}, "3"),
    ]
    assert {call.parent_id for call in calls} == {trace.llm_calls[0].id}
    assert report(trace)["absent"] == ["costs", "reasoning"]
    assert report(trace)["dropped"] == {"span that is structure": 4}  # four chains


def test_many_traces_are_many(written, tmp_path):
    other = {**written, "id": "5b8e"}
    lines = "".join(json.dumps(one) + "\n" for one in (written, other))
    for value, name in (([written, other], "list.json"), (lines, "lines.jsonl")):
        traces = read_value(tmp_path, value, name)
        assert [trace.total_tokens for trace in traces] == [240, 240]


@pytest.mark.parametrize("hours", [-5, 0, 9])
def test_local_times_of_steps_are_times_of_the_trace(written, tmp_path, hours):
    for step in written["steps"]:
        hour = (19 + hours) % 24
        day = 18 + (19 + hours) // 24
        step["timestamp"] = step["timestamp"].replace("-18T19", f"-{day}T{hour:02}")
    (trace,) = read_value(tmp_path, written)
    assert all(trace.started_at <= step.timestamp <= trace.completed_at for step in trace.steps)


def test_a_step_that_failed_and_a_schema_instead_of_arguments(written, tmp_path):
    (tool, *_) = [step for step in written["steps"] if step["type"] == "tool_call"]
    tool |= {"status": "failure", "error": "no price", "tool_result": None}
    tool["tool_args"] = {"type": "object", "properties": {"of": {"type": "string"}}}
    (trace,) = read_value(tmp_path, written)
    (failed,) = [call for call in trace.tool_calls if call.status.value == "failure"]
    assert (failed.error, failed.tool_args) == ("no price", {"of": "tea"})


def test_a_trace_that_was_built_by_hand_is_our_own_format(written, tmp_path):
    for step in written["steps"]:
        step["metadata"] = {}
    (trace,) = read_value(tmp_path, written)
    assert "imported" not in trace.metadata
