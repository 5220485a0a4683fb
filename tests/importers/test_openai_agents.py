"""Spans that the OpenAI Agents SDK exports."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.importers import importer_of
from trialrun.model.steps import StepStatus, StepType

FILE = Path(__file__).parents[1] / "data/formats/openai-agents/made-0.24.jsonl"


def check(trace):
    assert trace.input == "Weather in Paris and Rome, then refund me."
    assert trace.output == "Refund done."
    assert trace.agent_name == "Triage"
    # `turn` and `task` spans repeat the usage: 4 calls of 100 + 20 tokens.
    assert (trace.total_llm_calls, trace.total_tokens) == (4, 480)
    assert trace.tool_call_sequence == ["get_weather", "get_weather", "fail"]
    paris, rome, failed = trace.tool_calls
    assert paris.parent_id == rome.parent_id == trace.llm_calls[0].id
    assert paris.tool_result == "{'city': 'Paris', 'temp': 18}"  # as Python writes it
    assert failed.status is StepStatus.FAILURE
    (handoff,) = [step for step in trace.steps if step.type is StepType.HANDOFF]
    assert handoff.handoff_to == "Refunds"
    assert handoff.parent_id == trace.llm_calls[2].id
    assert trace.llm_calls[3].metadata["agent"] == "Refunds"


def test_lines():
    assert importer_of(FILE).name == "openai_agents"
    (trace,) = read_traces(FILE)
    check(trace)


def test_the_body_of_a_request(tmp_path):
    items = [json.loads(line) for line in FILE.read_text().splitlines()]
    file = tmp_path / "body.json"
    file.write_text(json.dumps({"data": items}))
    (trace,) = read_traces(file)
    check(trace)


def test_a_response_without_content_says_nothing_of_calls(tmp_path):
    span = {
        "object": "trace.span",
        "id": "span_1",
        "trace_id": "trace_1",
        "parent_id": None,
        "started_at": "2026-11-18T14:53:12.6+00:00",
        "ended_at": "2026-11-18T14:53:12.7+00:00",
        "span_data": {"type": "response", "response_id": "resp_1", "usage": {"input_tokens": 9}},
        "error": None,
    }
    file = tmp_path / "span.jsonl"
    file.write_text(json.dumps(span))
    (trace,) = read_traces(file)
    assert trace.total_llm_calls == 1
    assert not trace.recorded & {"tool_calls", "answer"}
