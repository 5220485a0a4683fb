"""Cursor's agent: a real transcript."""

from __future__ import annotations

from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import LLM_CALLS, TOOL_ARGS, TOOL_RESULTS
from trialrun.model.trace import StepStatus

DATA = Path(__file__).parents[1] / "data" / "formats"


def read(name):
    (trace,) = read_traces(DATA / name)
    return trace


def test_cursor_has_no_results():
    trace = read("cursor/session.jsonl")
    assert trace.input == "Generate a file with all the HBO shows from the 90's in it"
    assert len(trace.tool_calls) == 10
    assert trace.tool_calls[1].tool_name == "WebSearch"
    assert {step.status for step in trace.tool_calls} == {StepStatus.PENDING}
    assert TOOL_ARGS in trace.recorded
    assert not {TOOL_RESULTS, LLM_CALLS} & trace.recorded
