"""`codex exec --json`: a stream of the real program, and single events."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import LLM_CALLS, TIMINGS
from trialrun.model.trace import StepStatus, TraceStatus

FILE = Path(__file__).parents[1] / "data" / "formats" / "codex-exec" / "made-0.169.0.jsonl"


def read(tmp_path, *events):
    lines = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, *events]
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (trace,) = read_traces(file)
    return trace


def item(**values):
    return {"type": "item.completed", "item": {"id": "i", **values}}


def test_a_run_against_a_scripted_server():
    """The server counts 100 + 20 tokens for each of two calls, 64 of them cached, 8 thoughts."""
    (trace,) = read_traces(FILE)
    assert trace.output == "Paris has 21 degrees; the folder is missing."
    assert trace.tool_call_sequence == ["command_execution", "command_execution"]
    echo, listing = trace.tool_calls
    assert echo.tool_args == {"command": "/bin/bash -lc 'echo 21 degrees'"}
    assert (echo.tool_result, echo.status) == ("21 degrees\n", StepStatus.SUCCESS)
    assert (listing.metadata["exit_code"], listing.status) == (2, StepStatus.FAILURE)
    (all_calls,) = trace.llm_calls
    assert trace.total_tokens == 240
    assert (all_calls.tokens.cached_tokens, all_calls.tokens.reasoning_tokens) == (128, 16)
    assert all_calls.output.startswith("I run both.\n")
    assert not {LLM_CALLS, TIMINGS} & trace.recorded  # one sum for the turn, no times


def test_a_turn_that_failed_has_no_answer(tmp_path):
    text = item(type="agent_message", text="I begin.")
    trace = read(tmp_path, text, {"type": "turn.failed", "error": {"message": "no network"}})
    assert trace.output is None and trace.status is TraceStatus.FAILURE
    assert trace.metadata["unfinished"] == "error: no network"


def test_a_turn_without_an_end_has_no_answer(tmp_path):
    trace = read(tmp_path, item(type="agent_message", text="I begin."))
    assert trace.output is None and trace.metadata["unfinished"] == "the turn has no end"


def test_mcp_calls_have_the_name_of_their_tool(tmp_path):
    values = {"server": "docs", "tool": "search", "arguments": {"q": "x"}, "status": "completed"}
    result = {"content": [{"type": "text", "text": "found"}]}
    trace = read(tmp_path, item(type="mcp_tool_call", result=result, **values))
    (call,) = trace.tool_calls
    assert (call.tool_name, call.tool_args, call.tool_result) == ("search", {"q": "x"}, "found")
    assert call.metadata["server"] == "docs"


def test_a_call_that_was_only_started_is_pending(tmp_path):
    started = {"id": "i", "type": "command_execution", "command": "ls", "status": "in_progress"}
    trace = read(tmp_path, {"type": "item.started", "item": started})
    assert trace.tool_calls[0].status is StepStatus.PENDING
    assert trace.tool_calls[0].tool_result is None
