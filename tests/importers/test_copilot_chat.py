"""Copilot Chat: a real journal, and changes of what is not there."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.importers.copilot_chat import _changed
from trialrun.model.evidence import LLM_CALLS, TOOL_ARGS, TOOL_RESULTS
from trialrun.model.trace import StepType

DATA = Path(__file__).parents[1] / "data" / "formats"


def read(name):
    (trace,) = read_traces(DATA / name)
    return trace


def prompts(trace):
    return [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT]


def test_a_journal_of_copilot_chat():
    """The second request is appended by a later line."""
    trace = read("copilot-chat/session.jsonl")
    assert trace.input == "Add a joke about 7sadfh32u23gdaWF to jokes.csv"
    assert prompts(trace) == ["follow up message"]
    tools = ["copilot_readFile", "copilot_insertEdit", "vscode_editFile_internal"]
    assert trace.tool_call_sequence == tools
    wanted = 'The joke about "7sadfh32u23gdaWF" has been successfully added to the jokes.csv file.'
    assert trace.output.startswith(wanted)
    assert {step.model for step in trace.llm_calls} == {"gpt-4o"}
    assert not {TOOL_ARGS, TOOL_RESULTS, LLM_CALLS} & trace.recorded


def test_a_journal_that_changes_what_is_not_there(tmp_path):
    whole = {"responderUsername": "GitHub Copilot", "requests": []}
    request = {"requestId": "r", "message": {"text": "Go"}, "response": [{"value": "Done."}]}
    lines = [
        {"kind": 0, "v": whole},
        {"kind": 1, "k": ["a", "b"], "v": 1},
        {"kind": 2, "k": ["requests", "x"], "v": [1]},
        {"kind": 2, "k": ["requests"], "v": [request]},
        {"kind": 1, "k": ["requests", 0, "modelId"], "v": "copilot/m"},
    ]
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (trace,) = read_traces(file)
    assert (trace.input, trace.output, trace.llm_calls[0].model) == ("Go", "Done.", "m")


def test_many_parts_that_were_appended_one_by_one():
    """300,000 lines: copying all earlier parts for each of them never ends."""
    session = {"requests": [{"response": []}], "name": "n"}
    count = 300_000
    for number in range(count):
        _changed(session, {"kind": 2, "k": ["requests", 0, "response"], "v": [number]})
    assert session["requests"][0]["response"] == list(range(count))
    _changed(session, {"kind": 2, "k": ["new"], "v": [1]})
    _changed(session, {"kind": 2, "k": ["name"], "v": [1]})  # not a list
    assert (session["new"], session["name"]) == ([1], "n")


def test_a_journal_that_begins_without_requests(tmp_path):
    request = {"requestId": "r", "message": {"text": "2 + 2?"}, "response": [{"value": "4"}]}
    rows = [
        {"kind": 0, "v": {"requests": [], "inputState": {}}},
        {"kind": 2, "k": ["requests"], "v": [request]},
    ]
    file = tmp_path / "chat.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (trace,) = read_traces(file)
    assert (trace.input, trace.output) == ("2 + 2?", "4")
