"""Droid: a real session."""

from __future__ import annotations

from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import TOKENS

DATA = Path(__file__).parents[1] / "data" / "formats"


def read(name):
    (trace,) = read_traces(DATA / name)
    return trace


def test_droid():
    trace = read("droid/session.jsonl")
    assert trace.tool_call_sequence == ["Read", "TodoWrite", "ApplyPatch", "Read", "TodoWrite"]
    assert trace.tool_calls[0].parent_id == trace.tool_calls[1].parent_id
    assert trace.tool_calls[3].tool_result == "// DROID3\nconsole.log('Hello');\n"
    assert trace.input == 'Update the first comment in @index.ts to "DROID3"'
    assert trace.output.startswith("# Update complete")
    assert len(trace.llm_calls) == 5 and TOKENS not in trace.recorded
