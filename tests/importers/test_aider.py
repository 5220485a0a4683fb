"""aider: a real history of several sessions, and a page of its website."""

from __future__ import annotations

from pathlib import Path

import pytest

from trialrun import read_traces
from trialrun.model.evidence import TOOL_CALLS

DATA = Path(__file__).parents[1] / "data" / "formats" / "aider"


def test_sessions_prompts_and_rounded_figures():
    traces = read_traces(DATA / "monochromatic.aider.chat.history.md")
    assert len(traces) == 13
    assert traces[0].input == "" and traces[0].output is None  # nothing was asked
    trace = next(one for one in traces if one.metadata["started"] == "2025-06-02 12:55:22")
    assert trace.input == "What's this?"
    assert [turn.input for turn in trace.turns()] == ["What's this?", "What's this repo?"]
    assert trace.output.startswith('This text isn\'t a "repo" in the sense of a software')
    assert trace.total_tokens == 9700 + 85 + 9800 + 141
    assert trace.total_cost_usd == pytest.approx(0.02)  # `session` is a sum, and is not added
    assert TOOL_CALLS not in trace.recorded


def test_a_page_of_the_website():
    (trace,) = read_traces(DATA / "examples-pong.md")
    assert trace.input == "can you make a simple game of pong with pygame?"
    assert len(trace.turns()) == 5
    assert len(trace.metadata["edited"]) == 7


def test_lines_of_code_are_not_marks(tmp_path):
    text = (
        "# aider chat started at 2026-01-02 03:04:05\n\n"
        "#### /add a.md\n\n#### Write it.\n#### Please.\n\n"
        "Here:\n\n```\n> quoted\n# a heading\n```\n\n> Applied edit to a.md  \n"
    )
    (tmp_path / "h.md").write_text(text)
    (trace,) = read_traces(tmp_path / "h.md")
    assert trace.input == "Write it.\nPlease."
    assert trace.output == "Here:\n\n```\n> quoted\n# a heading\n```"
    assert trace.metadata["edited"] == ["a.md"]
    assert trace.metadata["imported"]["dropped"] == {"command of the user": 1}
