"""Sessions of OpenCode: two real exports, and single rules on small ones."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import COSTS, TOKENS
from trialrun.model.trace import StepStatus, StepType, TraceStatus

DATA = Path(__file__).parents[1] / "data" / "formats" / "opencode"


def read(path):
    (trace,) = read_traces(path)
    return trace


def session(tmp_path, *messages):
    file = tmp_path / "session.json"
    asked = {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Go"}]}
    document = {"info": {"id": "ses_1"}, "messages": [asked, *messages]}
    file.write_text(json.dumps(document), encoding="utf-8")
    return read(file)


def reply(*parts, **info):
    return {"info": {"role": "assistant", "modelID": "m", **info}, "parts": list(parts)}


def tool(status, **state):
    state = {"status": status, "input": {"command": "ls"}, **state}
    return {"type": "tool", "tool": "bash", "callID": "c", "state": state}


def test_a_session_with_a_subagent():
    trace = read(DATA / "v1.18.4-compress.json")
    assert trace.tool_call_sequence == ["task", "read", "edit", "bash", "compress"]
    assert len(trace.llm_calls) == 6
    assert trace.input.startswith("Type error: Argument of type '{ duration:")
    assert trace.output.startswith("Build passes. The fix: ")
    task, _, _, bash, _ = trace.tool_calls
    assert task.metadata["session"] == "ses_06b0bc239ffebneph9vfKI9G7L"
    assert bash.metadata["cwd"] == "/home/himmel/personal/prsui"
    assert (bash.status, bash.metadata["exit_code"]) == (StepStatus.SUCCESS, 0)


def test_what_the_model_never_saw_is_not_a_prompt():
    """The second message of a user is a note on compression, marked as ignored."""
    trace = read(DATA / "v1.18.4-compress.json")
    assert not [step for step in trace.steps if step.type is StepType.HUMAN_INPUT]


def test_cached_and_reasoning_tokens_are_counted_beside_the_others():
    """14,803 + 63,552 cached were read, 902 + 593 thoughts written; the model is free."""
    trace = read(DATA / "v1.18.4-compress.json")
    assert trace.total_tokens == 14803 + 63552 + 902 + 593
    assert COSTS not in trace.recorded
    first = trace.llm_calls[0].tokens
    assert (first.prompt_tokens, first.cached_tokens) == (11662, 10240)
    assert (first.completion_tokens, first.reasoning_tokens) == (206, 66)


def test_a_run_that_an_error_ended():
    trace = read(DATA / "v1.18.4-no-tools.json")
    assert trace.output is None and trace.status is TraceStatus.FAILURE
    assert trace.metadata["unfinished"] == "error: No provider available"
    assert trace.agent_name == "explore"
    assert trace.metadata["parent_session"] == "ses_06b544b97ffeSDkvT8OreFztLZ"
    assert trace.llm_calls[0].tokens is None
    assert TOKENS not in trace.recorded  # 0 tokens of a message that was cut off


def test_a_message_without_an_end_was_cut_off(tmp_path):
    trace = session(tmp_path, reply({"type": "text", "text": "I begin."}))
    assert trace.output is None
    assert trace.metadata["unfinished"] == "the last message has no end"


def test_a_message_with_a_step_finish_has_an_end(tmp_path):
    parts = {"type": "text", "text": "Done."}, {"type": "step-finish"}
    assert session(tmp_path, reply(*parts)).output == "Done."


def test_the_exit_code_decides(tmp_path):
    trace = session(tmp_path, reply(tool("completed", output="x", metadata={"exit": 1})))
    assert trace.tool_calls[0].status is StepStatus.FAILURE


def test_a_call_that_failed_has_its_error_as_result(tmp_path):
    trace = session(tmp_path, reply(tool("error", error="not found")))
    call = trace.tool_calls[0]
    assert (call.status, call.tool_result) == (StepStatus.FAILURE, "not found")


def test_a_call_that_still_runs_has_no_result(tmp_path):
    call = session(tmp_path, reply(tool("running"))).tool_calls[0]
    assert (call.status, call.tool_result) == (StepStatus.PENDING, None)


def test_recorded_costs_are_kept(tmp_path):
    tokens = {"input": 9, "output": 1, "cache": {"read": 0, "write": 0}}
    trace = session(tmp_path, reply(finish="stop", cost=0.02, tokens=tokens))
    assert trace.llm_calls[0].cost_usd == 0.02 and COSTS in trace.recorded


def test_calls_whose_ids_were_masked_alike_are_not_one_call(tmp_path):
    """Somebody replaced ids before publishing: the third is the second once more."""
    first = tool("completed", input={"command": "npm test"}, output="1 failed")
    again = tool("completed", input={"command": "npm test -- a"}, output="1 passed")
    trace = session(tmp_path, reply(first), reply(again), reply(again))
    given = [(call.tool_args["command"], call.tool_result) for call in trace.tool_calls]
    assert given == [("npm test", "1 failed"), ("npm test -- a", "1 passed")]
