"""Logs of the client of Anthropic's managed agents."""

from __future__ import annotations

import json

import pytest

from tests.importers.recordings import FORMATS, read, read_value, report
from trialrun.model.trace import StepStatus

CUSTOM = "anthropic-managed-agents/anthropic_managed_custom_tools.jsonl"


def test_a_session_has_its_model_calls_and_tool_calls():
    trace = read("anthropic-managed-agents/anthropic_managed_builtin_tools.jsonl")
    assert len(trace.llm_calls) == 2
    assert trace.tool_call_sequence == ["bash"]
    tokens = [reply.tokens for reply in trace.llm_calls]
    assert sum(one.cached_tokens for one in tokens) == 14300
    assert sum(one.completion_tokens for one in tokens) == 80
    assert sum(one.total_tokens for one in tokens) == 4 + 80 + 14300 + 25
    assert trace.output.startswith("The current date and time is:\n\n**Monday, July 6, 2026")


def test_what_the_user_sent_counts_once():
    trace = read(CUSTOM)
    assert trace.input == "What's the weather in Prague?"
    assert [step.type for step in trace.steps].count("human_input") == 0
    (call,) = trace.tool_calls
    assert call.tool_args == {"location": "Prague"}
    assert call.tool_result == "It's 23°C and sunny in Prague."
    assert call.parent_id == trace.llm_calls[0].id
    assert trace.llm_calls[0].model == "claude-sonnet-5"
    # 14:16:30.622052 to 14:16:36.646425
    assert trace.llm_calls[0].duration_ms == pytest.approx(6024.373)
    assert report(trace)["repeated"] == {"event that was sent": 2}


def test_what_was_sent_and_not_echoed_is_read_in_its_place(tmp_path):
    lines = (FORMATS / CUSTOM).read_text(encoding="utf-8").splitlines()
    echoes = [line for line in lines if "events.stream" in line and '"type":"user.' in line]
    assert len(echoes) == 2
    text = "\n".join(line for line in lines if line not in echoes)
    (trace,) = read_value(tmp_path, text, "without-echoes.jsonl")
    assert trace.input == "What's the weather in Prague?"
    assert trace.tool_calls[0].tool_result == "It's 23°C and sunny in Prague."
    assert trace.output.startswith("It's currently **23°C and sunny**")


def test_a_denied_call_is_a_failure(tmp_path):
    lines = (FORMATS / CUSTOM).read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    for _, event in events:
        if isinstance(event, dict) and event.get("type") == "user.custom_tool_result":
            event["is_error"] = True
    text = "\n".join(map(json.dumps, events))
    (trace,) = read_value(tmp_path, text, "denied.jsonl")
    assert trace.tool_calls[0].status is StepStatus.FAILURE
