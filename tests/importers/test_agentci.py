"""AgentCI: a real golden trace, and a baseline with its question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trialrun import StepType, read_traces
from trialrun.model.evidence import TOOL_RESULTS

FILE = Path(__file__).parents[1] / "data" / "formats" / "agentci" / "weather_lookup.golden.json"


def test_a_golden_trace():
    (trace,) = read_traces(FILE)
    kinds = [step.type for step in trace.steps]
    assert kinds == [StepType.LLM_CALL, StepType.TOOL_CALL, StepType.LLM_CALL]
    assert trace.tool_calls[0].tool_args == {"city": "San Francisco"}
    assert trace.total_tokens == 415 and trace.total_cost_usd == pytest.approx(0.0001)
    assert trace.output.startswith("Based on the data:")
    assert trace.name == "weather_basic"
    assert TOOL_RESULTS not in trace.recorded


def test_a_baseline_has_the_question(tmp_path):
    baseline = {"version": "v1", "agent": "a", "query": "Weather?"}
    baseline["trace"] = json.loads(FILE.read_text())
    (tmp_path / "b.json").write_text(json.dumps(baseline))
    (trace,) = read_traces(tmp_path / "b.json")
    assert (trace.input, trace.agent_name) == ("Weather?", "a")


def test_calls_that_are_not_a_list_are_left_out(tmp_path):
    golden = json.loads(FILE.read_text())
    golden["spans"][0]["tool_calls"] = True
    (tmp_path / "t.json").write_text(json.dumps(golden))
    (trace,) = read_traces(tmp_path / "t.json")
    assert not trace.tool_calls and len(trace.llm_calls) == 2
