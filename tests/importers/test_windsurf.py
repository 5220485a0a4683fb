"""Windsurf: a real transcript, and a command that failed."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.trace import StepStatus, StepType

DATA = Path(__file__).parents[1] / "data" / "formats"


def read(name):
    (trace,) = read_traces(DATA / name)
    return trace


def prompts(trace):
    return [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT]


def test_windsurf():
    trace = read("windsurf/session.jsonl")
    assert trace.input == "Write a song in @[xyz.md]"
    assert prompts(trace) == [
        "Eraase rewrite you cand o bettter",
        "@[xyz.md]",
        "call some tools :)",
    ]
    assert len(trace.tool_calls) == 18
    commit = trace.tool_calls[2]
    assert (commit.tool_name, commit.tool_args["command"]) == ("run_command", "git commit -a")
    assert commit.metadata["exit_code"] == 0
    failed = [step.tool_name for step in trace.tool_calls if step.status is StepStatus.FAILURE]
    assert failed == ["list_resources"]


def test_a_windsurf_command_that_failed(tmp_path):
    values = {"command": "false", "exit_code": 1, "output": ""}
    lines = [
        {"type": "user_input", "status": "done", "user_input": {"user_response": "Go"}},
        {"type": "run_command", "status": "done", "run_command": values},
    ]
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (trace,) = read_traces(file)
    assert trace.tool_calls[0].status is StepStatus.FAILURE
