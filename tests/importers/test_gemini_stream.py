"""`gemini --output-format stream-json`: a stream of the real program, and single events."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import LLM_CALLS
from trialrun.model.trace import StepStatus, TraceStatus

FILE = Path(__file__).parents[1] / "data" / "formats" / "gemini-stream" / "made-0.61.0.jsonl"
INIT = {"type": "init", "session_id": "s", "model": "m"}
ASKED = {"type": "message", "role": "user", "content": "2 + 2?"}


def read(tmp_path, *events):
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join(map(json.dumps, (INIT, ASKED, *events))), encoding="utf-8")
    (trace,) = read_traces(file)
    return trace


def delta(text):
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def result(**stats):
    return {"type": "result", "status": "success", "stats": stats}


def test_a_run_against_a_scripted_server():
    """The server counts 100 + 12 + 8 thoughts for each of two calls, 64 of them cached."""
    (trace,) = read_traces(FILE)
    assert trace.input == "How warm is it in Paris?"
    assert trace.output == "Paris has 21 degrees; the folder is missing."
    assert trace.tool_call_sequence == ["run_shell_command", "run_shell_command"]
    assert trace.tool_calls[0].tool_args == {"command": "echo 21 degrees"}
    assert trace.tool_calls[0].tool_result == "21 degrees"
    (all_calls,) = trace.llm_calls
    assert trace.total_tokens == 240
    assert (all_calls.tokens.cached_tokens, all_calls.tokens.reasoning_tokens) == (128, 16)
    assert LLM_CALLS not in trace.recorded


def test_how_a_command_ended_is_not_recorded():
    """The second command exited with 2, and its status is "success"."""
    (trace,) = read_traces(FILE)
    assert {step.status for step in trace.tool_calls} == {StepStatus.PENDING}


def test_pieces_of_a_text_are_joined(tmp_path):
    trace = read(tmp_path, delta("It i"), delta("s 4."), result())
    assert trace.output == "It is 4."


def test_text_before_a_call_is_not_the_answer(tmp_path):
    use = {"type": "tool_use", "tool_name": "add", "tool_id": "c", "parameters": {"a": 2}}
    done = {"type": "tool_result", "tool_id": "c", "status": "success", "output": "4"}
    trace = read(tmp_path, delta("I add."), use, done, delta("4"), result())
    assert trace.output == "4" and trace.llm_calls[0].output == "I add.\n4"
    assert trace.tool_calls[0].status is StepStatus.SUCCESS  # not a command


def test_each_model_has_its_usage(tmp_path):
    one = {"total_tokens": 12, "input_tokens": 9, "output_tokens": 3}
    other = {"total_tokens": 5, "input_tokens": 4, "output_tokens": 1}
    trace = read(tmp_path, delta("4"), result(models={"small": other, "m": one}))
    usages = {step.model: step.tokens.total_tokens for step in trace.llm_calls}
    assert usages == {"m": 12, "small": 5} and trace.total_tokens == 17


def test_a_stream_that_breaks_off_has_no_answer(tmp_path):
    trace = read(tmp_path, delta("I begin."))
    assert trace.output is None and trace.status is TraceStatus.FAILURE


def test_an_error_is_not_an_answer(tmp_path):
    failed = {"type": "result", "status": "error", "error": {"message": "quota"}, "stats": {}}
    trace = read(tmp_path, delta("I begin."), failed)
    assert trace.output is None and trace.metadata["unfinished"] == "error: quota"
