"""OpenHands: real lists of events, events of the SDK, evaluation output, folders of events."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces

DATA = Path(__file__).parents[1] / "data" / "formats" / "openhands"


def test_a_list_of_events():
    (trace,) = read_traces(DATA / "basic-gui-mode.json")
    assert trace.tool_call_sequence == ["run", "edit", "edit", "run"]
    functions = [call.metadata["function"] for call in trace.tool_calls]
    assert functions == ["execute_bash", "str_replace_editor", "str_replace_editor", "execute_bash"]
    first = trace.tool_calls[0]
    assert first.tool_args["command"] == "mkdir -p /workspace/todo-app"
    assert first.metadata["exit_code"] == 0
    assert trace.input.startswith("I want to create a VueJS app that allows me to:")
    assert trace.output.startswith("I've created a complete Vue.js todo application with all the")
    # Four replies have their usage; the one that wrote the last message has none.
    assert trace.llm_calls[0].tokens.total_tokens == 3543
    assert len(trace.llm_calls) == 5 and trace.total_tokens is None


def test_events_of_the_sdk_and_sums_that_grow():
    (trace,) = read_traces(DATA / "sdk-v1-events.jsonl")
    assert trace.tool_call_sequence == ["terminal", "terminal"]
    assert "SESSION_URL" in trace.tool_calls[0].tool_args["command"]
    assert trace.tool_calls[0].status.value == "failure"
    assert trace.total_tokens == 107458 + 1347
    assert trace.llm_calls[0].tokens.total_tokens == 596 + 775
    assert (trace.output, trace.metadata["ends_in"]) == (None, "result")
    assert trace.metadata["imported"]["dropped"] == {"result without a call": 1}


def reply(key, tokens):
    usage = {"prompt_tokens": tokens, "completion_tokens": 1}
    return {"function_name": "f", "model_response": {"id": key, "model": "m", "usage": usage}}


def test_one_reply_that_asked_for_two_actions_counts_once(tmp_path):
    asked = {"id": 0, "source": "user", "action": "message", "args": {"content": "go"}}
    run = {"source": "agent", "action": "run", "tool_call_metadata": reply("r", 10)}
    events = [
        asked,
        {"id": 1, "args": {"command": "ls"}, **run},
        {"id": 2, "args": {"command": "false"}, **run},
        {
            "id": 3,
            "source": "agent",
            "cause": 2,
            "observation": "run",
            "content": "",
            "extras": {"metadata": {"exit_code": 1}},
        },
        {"id": 4, "source": "agent", "action": "finish", "args": {"final_thought": "done"}},
    ]
    row = {"instance_id": "task-7", "metrics": {}, "history": events}
    (tmp_path / "output.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row) + "\n")
    trace, _ = read_traces(tmp_path / "output.jsonl")
    assert (trace.name, trace.output, trace.total_tokens) == ("task-7", "done", 11)
    assert [call.status.value for call in trace.tool_calls] == ["pending", "failure"]
    assert len({call.parent_id for call in trace.tool_calls}) == 1


def test_the_events_of_a_conversation_in_files_of_their_own(tmp_path):
    folder = tmp_path / "events"
    folder.mkdir()
    lines = (DATA / "sdk-v1-events.jsonl").read_text().splitlines()
    for number, line in enumerate(lines):
        (folder / f"event-{number:05}-x.json").write_text(line)
    (trace,) = read_traces(tmp_path)
    (same,) = read_traces(DATA / "sdk-v1-events.jsonl")
    assert trace.steps == same.steps
