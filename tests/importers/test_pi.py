"""Sessions of pi: a real one of version 3, and branches, aborted replies and `yield`."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import COSTS
from trialrun.model.trace import StepStatus, StepType

DATA = Path(__file__).parents[1] / "data" / "formats" / "pi"


def read(path):
    (trace,) = read_traces(path)
    return trace


def session(tmp_path, *entries):
    file = tmp_path / "session.jsonl"
    head = {"type": "session", "id": "s", "cwd": "/app"}
    file.write_text("\n".join(map(json.dumps, (head, *entries))), encoding="utf-8")
    return read(file)


def entry(key, parent, role, content, **values):
    message = {"role": role, "content": content, **values}
    return {"type": "message", "id": key, "parentId": parent, "message": message}


def asked(key, parent, text):
    return entry(key, parent, "user", [{"type": "text", "text": text}])


def said(key, parent, text, **values):
    values = {"usage": {"input": 9, "output": 1}, "stopReason": "stop", **values}
    return entry(
        key, parent, "assistant", [{"type": "text", "text": text}] if text else [], **values
    )


def test_two_prompts():
    trace = read(DATA / "v3-prsui-two-prompts.jsonl")
    assert trace.input == "i've added description short in @constants/site.ts"
    assert [step.type for step in trace.steps].count(StepType.HUMAN_INPUT) == 1
    assert trace.tool_call_sequence == ["read", "edit"]
    assert trace.output == "Fixed. `SHORY` → `SHORT`."
    assert {step.model for step in trace.llm_calls} == {"mimo-v2.5-free"}
    assert trace.metadata["cwd"] == "/home/himmel/personal/prsui"


def test_cached_tokens_are_counted_beside_the_input():
    """2,987 + 7,296 cached were read and 278 written; the model is free."""
    trace = read(DATA / "v3-prsui-two-prompts.jsonl")
    assert len(trace.llm_calls) == 4 and trace.total_tokens == 10561 == 2987 + 7296 + 278
    assert COSTS not in trace.recorded


def test_the_branch_that_ends_the_file_is_the_session(tmp_path):
    """The user went back to the first answer and asked something else."""
    trace = session(
        tmp_path,
        *(asked("1", None, "One"), said("2", "1", "1")),
        *(asked("3", "2", "Two"), said("4", "3", "2")),
        *(asked("5", "2", "Three"), said("6", "5", "3")),
    )
    assert [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT] == ["Three"]
    assert trace.output == "3" and len(trace.llm_calls) == 2
    assert trace.metadata["imported"]["dropped"] == {"entry of a branch that was left": 2}


def test_entries_of_version_1_have_no_ids(tmp_path):
    entries = [asked("1", None, "One"), said("2", "1", "1")]
    for one in entries:
        del one["id"], one["parentId"]
    trace = session(tmp_path, *entries)
    assert (trace.input, trace.output) == ("One", "1")


def test_a_circle_of_parents_ends(tmp_path):
    trace = session(tmp_path, asked("1", "2", "One"), said("2", "1", "1"))
    assert (trace.input, trace.output) == ("One", "1")


def test_an_aborted_reply_without_content_used_nothing(tmp_path):
    nothing = {"input": 0, "output": 0}
    aborted = said("4", "3", "", stopReason="aborted", usage=nothing)
    turn = asked("1", None, "One"), said("2", "1", "1"), asked("3", "2", "Two"), aborted
    trace = session(tmp_path, *turn)
    assert trace.total_tokens == 10 and trace.output == "1"
    assert trace.metadata["interrupted"] == "the user aborted the reply"


def test_zero_tokens_beside_text_were_not_counted(tmp_path):
    nothing = {"input": 0, "output": 0}
    turn = asked("1", None, "One"), said("2", "1", "1", usage=nothing), said("3", "2", "2")
    trace = session(tmp_path, *turn)
    assert trace.llm_calls[0].tokens is None and trace.total_tokens is None


def test_an_error_is_not_an_answer(tmp_path):
    failed = said("2", "1", "I begin.", stopReason="error", errorMessage="429")
    trace = session(tmp_path, asked("1", None, "One"), failed)
    assert trace.output is None and trace.metadata["unfinished"] == "error: 429"


def test_what_was_handed_in_is_the_answer_where_there_is_no_text(tmp_path):
    arguments = {"result": {"data": {"answer": 4}}}
    call = {"type": "toolCall", "id": "c", "name": "yield", "arguments": arguments}
    handed = entry("2", "1", "assistant", [call], stopReason="toolUse")
    result = entry("3", "2", "toolResult", [], toolCallId="c", isError=False)
    trace = session(tmp_path, asked("1", None, "One"), handed, result)
    assert trace.output == {"answer": 4}


def test_the_exit_code_of_a_command(tmp_path):
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "false"}}
    text = [{"type": "text", "text": "no\n\nCommand exited with code 3"}]
    trace = session(
        tmp_path,
        asked("1", None, "One"),
        entry("2", "1", "assistant", [call]),
        entry("3", "2", "toolResult", text, toolCallId="c", toolName="bash", isError=True),
        entry("4", "3", "bashExecution", "", command="ls"),
    )
    (step,) = trace.tool_calls
    assert (step.status, step.metadata["exit_code"]) == (StepStatus.FAILURE, 3)
    assert trace.metadata["imported"]["dropped"] == {"command that the user ran": 1}


def test_costs_are_kept(tmp_path):
    usage = {"input": 9, "output": 1, "cost": {"total": 0.03}}
    trace = session(tmp_path, asked("1", None, "One"), said("2", "1", "1", usage=usage))
    assert trace.total_cost_usd == 0.03


def test_few_cached_tokens_are_not_taken_off_the_input(tmp_path):
    usage = {"input": 9, "output": 1, "cacheRead": 4, "cacheWrite": 2}
    trace = session(tmp_path, asked("1", None, "One"), said("2", "1", "1", usage=usage))
    assert trace.total_tokens == 9 + 1 + 4 + 2
