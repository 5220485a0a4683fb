"""LangSmith: exported runs and batches."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.importers import importer_of
from trialrun.model.steps import StepStatus

FILE = Path(__file__).parents[1] / "data/formats/langsmith/py-batch-post-patch.json"


def test_a_run_that_is_posted_and_patched_counts_once():
    assert importer_of(FILE).name == "langsmith"
    (trace,) = read_traces(FILE)
    assert (trace.input, trace.output) == ("howdy", "Howdy! How can I assist you today?")
    (reply,) = trace.llm_calls
    assert (reply.model, reply.tokens.total_tokens) == ("gpt-4o-mini-2024-07-18", 18)
    assert round(reply.duration_ms, 3) == 1118.333  # 23.298773 to 24.417106


def run(number, kind, name, parent="r0", **fields):
    return {
        "id": f"r{number}",
        "trace_id": "r0",
        "parent_run_id": parent if number else None,
        "run_type": kind,
        "name": name,
        "start_time": f"2026-07-07T16:15:5{number}Z",
        "end_time": f"2026-07-07T16:15:5{number + 1}Z",
        **fields,
    }


def message(kind, content, **fields):
    return {"type": kind, "content": content, **fields}


USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "total_tokens": 120,
    "input_token_details": {"cache_read": 64},
    "output_token_details": {"reasoning": 8},
}
CALL = {"name": "search", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}
ASKED = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"]}


def exported():
    reply = {**ASKED, "kwargs": {"content": "", "tool_calls": [CALL], "usage_metadata": USAGE}}
    failed = message("tool", "Error: no index", tool_call_id="c1", status="error")
    state = {"messages": [message("human", "find x"), message("ai", "I could not.")]}
    return [
        run(0, "chain", "LangGraph", inputs={"messages": [["user", "find x"]]}, outputs=state),
        run(1, "llm", "ChatOpenAI", outputs={"generations": [[{"text": "", "message": reply}]]}),
        run(2, "tool", "search", inputs={"q": "x"}, outputs={"output": failed}),
    ]


def check(trace):
    assert (trace.input, trace.output) == ("find x", "I could not.")
    assert [call.tokens.cached_tokens for call in trace.llm_calls] == [64]
    assert trace.total_tokens == 120
    (call,) = trace.tool_calls
    assert (call.tool_name, call.tool_args) == ("search", {"q": "x"})
    assert (call.tool_result, call.status) == ("Error: no index", StepStatus.FAILURE)
    assert call.parent_id == trace.llm_calls[0].id


def test_a_list_of_runs(tmp_path):
    file = tmp_path / "runs.json"
    file.write_text(json.dumps(exported()))
    (trace,) = read_traces(file)
    check(trace)


def test_runs_on_lines_in_any_order(tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(json.dumps(item) for item in reversed(exported())))
    (trace,) = read_traces(file)
    check(trace)


def test_a_patch_does_not_take_away_what_was_posted(tmp_path):
    posted = run(0, "llm", "ChatOpenAI", inputs={"messages": [["user", "hi"]]}, outputs={})
    patched = {**posted, "inputs": {}, "outputs": {"messages": [message("ai", "hello")]}}
    file = tmp_path / "batch.json"
    file.write_text(json.dumps({"post": [posted], "patch": [patched]}))
    (trace,) = read_traces(file)
    assert (trace.input, trace.output, trace.total_llm_calls) == ("hi", "hello", 1)
