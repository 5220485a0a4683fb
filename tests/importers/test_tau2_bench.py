"""tau2-bench: real simulations."""

from __future__ import annotations

from pathlib import Path

import pytest

from trialrun import StepStatus, StepType, read_traces

FILE = Path(__file__).parents[1] / "data" / "formats" / "tau2-bench" / "airline.json"


def test_simulations_are_traces_of_the_agent_alone():
    one, other = read_traces(FILE)
    names = ["get_user_details", "get_reservation_details", "search_direct_flight"]
    assert one.tool_call_sequence == [*names, "book_reservation"]
    assert other.tool_call_sequence == [
        "get_user_details",
        "search_direct_flight",
        "book_reservation",
        "search_direct_flight",
    ]
    assert one.total_tokens == 41419 + 912 and other.total_tokens == 55606 + 1452
    # The costs of the simulated user are left out.
    assert one.total_cost_usd == pytest.approx(0.0162592)
    assert other.total_cost_usd == pytest.approx(0.0211073)
    assert [len(trace.llm_calls) for trace in (one, other)] == [9, 11]
    assert (one.name, one.metadata["trial"], one.metadata["reward"]) == ("task 8", 3, 0.0)


def test_turns_and_the_answer():
    one, other = read_traces(FILE)
    assert one.input.startswith("Hi, I'd like to book a one-way flight from Chicago (ORD)")
    turns = [step for step in one.steps if step.type is StepType.HUMAN_INPUT]
    assert len(turns) == 5 - 2  # the first is the input, the last only says stop
    assert "Your booking has been successfully completed." in one.output
    assert one.metadata["imported"]["dropped"] == {"closing message of the user": 1}
    failed = [step.tool_name for step in other.tool_calls if step.status is StepStatus.FAILURE]
    assert failed == ["book_reservation"]
