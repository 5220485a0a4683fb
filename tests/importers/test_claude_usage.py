"""Sessions of Claude Code: recorded costs."""

from __future__ import annotations

import pytest

from tests.importers.claude_rows import (
    assistant,
    read,
    text,
    user,
)


def cost_state(cost, model="claude-x", **fields):
    usage = {"inputTokens": 10, "outputTokens": 4, "costUSD": cost}
    return {"type": "cost-state", "sessionId": "s", "modelUsage": {model: usage}, **fields}


def two_calls():
    return user("hi"), assistant(text("a")), assistant(text("b"), request="r2")


def test_the_last_recorded_costs_count(tmp_path):
    trace = read(tmp_path, *two_calls(), cost_state(0.1), cost_state(0.3))
    assert trace.total_cost_usd == pytest.approx(0.3)
    assert [step.cost_usd for step in trace.llm_calls] == [pytest.approx(0.15)] * 2


def test_costs_of_requests_without_rows_count_too(tmp_path):
    state = cost_state(0.3)
    state["modelUsage"]["claude-title"] = {"inputTokens": 5, "outputTokens": 1, "costUSD": 0.02}
    state["modelUsage"]["claude-unused"] = {"inputTokens": 0, "outputTokens": 0, "costUSD": 0}
    trace = read(tmp_path, *two_calls(), state)
    assert trace.total_cost_usd == pytest.approx(0.32)
    assert trace.total_tokens == 20 and len(trace.llm_calls) == 3
    assert trace.llm_calls[-1].metadata == {"not_listed": True} and trace.output == "b"


def test_costs_under_another_name_are_those_of_the_rows_only_if_they_are_equal(tmp_path):
    """A gateway may answer under another name. Both rows have 10 input and 4 output tokens."""
    trace = read(tmp_path, *two_calls(), cost_state(0.3, model="asked-for"))
    assert trace.total_tokens == 14 and trace.total_cost_usd == pytest.approx(0.3)
    other = cost_state(0.3, model="claude-title")
    other["modelUsage"]["claude-title"]["outputTokens"] = 5
    trace = read(tmp_path, *two_calls(), other)
    assert trace.total_tokens == 14 + 15 and len(trace.llm_calls) == 3


def test_costs_that_cannot_be_those_of_the_whole_session_are_left_out(tmp_path):
    state = cost_state(0.1)
    state["modelUsage"]["claude-x"]["outputTokens"] = 3  # the rows have four
    trace = read(tmp_path, *two_calls(), state)
    assert "costs" not in trace.recorded
    assert list(trace.metadata["imported"]["dropped"].values()) == [1]
    trace = read(tmp_path, *two_calls(), cost_state(0.1, hasUnknownModelCost=True))
    assert "costs" not in trace.recorded
    trace = read(tmp_path, *two_calls(), cost_state(0))
    assert "costs" not in trace.recorded


def test_costs_of_single_rows_are_kept(tmp_path):
    trace = read(tmp_path, user("hi"), assistant(text("a"), costUSD=0.25))
    assert trace.total_cost_usd == 0.25 and "costs" in trace.recorded


def test_costs_of_a_model_by_another_name_add_no_tokens(tmp_path):
    trace = read(tmp_path, *two_calls(), cost_state(0.3, "us.anthropic.claude-x-v1:0"))
    assert trace.total_cost_usd == pytest.approx(0.3) and len(trace.llm_calls) == 2
    trace = read(tmp_path, *two_calls(), cost_state(0.3, "another-name"))
    assert trace.total_cost_usd == pytest.approx(0.3) and len(trace.llm_calls) == 2
