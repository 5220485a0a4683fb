"""Sessions of Claude Code: real ones, and malformed lines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from trialrun import TraceError, read_traces
from trialrun.importers import scan
from trialrun.model.trace import StepStatus

DATA = Path(__file__).parents[1] / "data" / "claude-code"
SESSION = DATA / "0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl"


def lines(*values):
    return "".join(
        (value if isinstance(value, str) else json.dumps(value)) + "\n" for value in values
    )


def user(content, **fields):
    return {
        "type": "user",
        "sessionId": "s",
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": content},
        **fields,
    }


def assistant(*blocks, request="r1", usage=None, moment="2026-01-01T00:00:01Z", **fields):
    message = {
        "role": "assistant",
        "model": "claude-x",
        "content": list(blocks),
        "usage": usage or {"input_tokens": 5, "output_tokens": 2},
    }
    return {
        "type": "assistant",
        "sessionId": "s",
        "requestId": request,
        "timestamp": moment,
        "message": message,
        **fields,
    }


def text(words):
    return {"type": "text", "text": words}


def use(name, arguments, key="u1"):
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def result(content, key="u1", **fields):
    return user([{"type": "tool_result", "tool_use_id": key, "content": content, **fields}])


def read(tmp_path, *values):
    file = tmp_path / "s.jsonl"
    file.write_text(lines(*values))
    (trace,) = read_traces(file)
    return trace


def test_a_folder_of_real_sessions():
    traces = {trace.name: trace for trace in read_traces(DATA)}
    assert set(traces) == {
        "Spawn curry poem agents, write sushi",
        "edit-tool-variants",
        "read-tool-variants",
    }
    edits = traces["edit-tool-variants"]
    assert edits.tool_call_sequence == ["Edit"] * 4
    assert all(step.status is StepStatus.SUCCESS for step in edits.tool_calls)
    assert edits.input.startswith("Please perform the following file edit operations")


def test_steps_of_subagents_are_part_of_the_run():
    (trace,) = read_traces(SESSION)
    searches = [step for step in trace.tool_calls if step.tool_name == "WebSearch"]
    assert len(searches) == 5  # one in each of the five files beside it
    tasks = {step.id for step in trace.tool_calls if step.tool_name == "Task"}
    assert {step.parent_id for step in searches} <= tasks
    moments = [step.timestamp for step in trace.steps]
    assert moments == sorted(moments)


def test_usage_repeated_over_lines_is_counted_once(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        assistant(
            text("one"),
            usage={"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 100},
        ),
        assistant(
            use("Bash", {"command": "ls"}),
            usage={"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": 100},
        ),
        result("a"),
        assistant(text("two"), request="r2", usage={"input_tokens": 7, "output_tokens": 3}),
    )
    assert [step.tokens.total_tokens for step in trace.llm_calls] == [114, 10]
    assert trace.output == "two"


def test_turns_results_and_failures(tmp_path):
    trace = read(
        tmp_path,
        "// a comment",
        user("first"),
        assistant(use("Bash", {"command": "false"})),
        result("Exit code 1", is_error=True),
        assistant(text("done"), request="r2"),
        user("second"),
        user("<command-name>/x</command-name>"),
        user("meta", isMeta=True),
        assistant(use("Read", {"file_path": "a"}, "u2"), request="r3"),
    )
    assert trace.input == "first"
    bash, pending = trace.tool_calls
    assert (bash.status, bash.tool_result) == (StepStatus.FAILURE, "Exit code 1")
    assert pending.status is StepStatus.PENDING
    assert [turn.input for turn in trace.turns()] == ["first", "second"]


def test_synthetic_messages_do_not_count_as_model_calls(tmp_path):
    value = assistant(text("API Error"))
    value["message"]["model"] = "<synthetic>"
    trace = read(tmp_path, user("hi"), value)
    assert trace.llm_calls == [] and trace.output is None


def test_a_line_that_cannot_be_read_is_named_and_the_rest_is_read(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(lines(user("hi"), '{"type": "assistant", ', assistant(text("done"))))
    traces, problems, _ = scan(file)
    assert [trace.output for trace in traces] == ["done"]
    assert [problem.line for problem in problems] == [2]
    with pytest.raises(TraceError, match=r"s\.jsonl:2"):
        read_traces(file)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "assistant", "uuid": "x", "message": None},
        {"type": "assistant", "uuid": "x", "message": {"content": 3}},
        {
            "type": "assistant",
            "uuid": "x",
            "message": {"content": [3, {"type": "tool_use", "name": None}]},
        },
        {"type": "user", "uuid": "x", "message": {"content": [{"type": "tool_result"}]}},
        {
            "type": "assistant",
            "uuid": "x",
            "timestamp": "yesterday",
            "message": {"content": [], "usage": {"input_tokens": -1}},
        },
        {"type": "summary", "summary": 3, "leafUuid": "x"},
        [1],
        3,
    ],
)
def test_lines_of_any_shape_do_not_crash(tmp_path, value):
    read(tmp_path, user("hi"), value, assistant(text("done"), request="r9"))


def test_a_sidechain_in_the_same_file(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        assistant(use("Grep", {"pattern": "x"}), isSidechain=True, agentId="a1"),
        assistant(text("done"), request="r2"),
    )
    assert trace.tool_call_sequence == ["Grep"]
    assert trace.tool_calls[0].metadata["subagent"] == "a1"


def test_a_subagents_file_alone_is_read_too(tmp_path):
    part = next((DATA / SESSION.stem / "subagents").glob("*.jsonl"))
    shutil.copy(part, tmp_path / part.name)
    (trace,) = read_traces(tmp_path)
    assert trace.tool_call_sequence == ["WebSearch"]


def test_native_traces_are_not_recognised_as_sessions(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"input": "q", "output": "a", "steps": []}\n')
    assert read_traces(file)[0].framework is None
