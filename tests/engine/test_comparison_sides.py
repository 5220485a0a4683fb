"""The sides of a comparison are read a few cases at a time."""

from __future__ import annotations

import pytest

from tests.engine.conftest import says
from trialrun import Step, Trace
from trialrun.engine.comparison_sides import LazyCases, stop_of
from trialrun.model.comparison import Seen
from trialrun.model.results import LayerStatus

SEEN = [Seen(status=LayerStatus.PASS)]


def lazy(count, ahead):
    """Cases that note which of them are read together."""
    parts = []

    def read(keys):
        parts.append([case for _, case in keys])
        return dict.fromkeys(keys, SEEN)

    return LazyCases([("s", str(n)) for n in range(count)], read, ahead), parts


def test_cases_in_order_are_read_ahead_and_each_once():
    cases, parts = lazy(7, ahead=3)
    assert [cases[key] for key in cases] == [SEEN] * 7
    assert parts == [["0", "1", "2"], ["3", "4", "5"], ["6"]]


def test_out_of_order_little_is_read_ahead():
    cases, parts = lazy(4, ahead=3)
    for number in "3120":
        assert cases["s", number] is SEEN
    assert parts == [["3"], ["1"], ["2", "3"], ["0"]]


def test_it_is_known_which_cases_there_are_without_reading_any():
    cases, parts = lazy(3, ahead=3)
    assert (len(cases), ("s", "2") in cases, ("s", "3") in cases) == (3, True, False)
    with pytest.raises(KeyError):
        cases["s", "3"]
    assert parts == []


def test_runs_of_the_same_cases_in_another_order_are_the_same(project):
    names = [f"c{n:02}" for n in range(70)]
    project.spec(*(says(name) for name in names))
    project.run()
    project.spec(*(says(name) for name in reversed(names)))
    project.run()
    done = project.command("compare", "latest~1", "latest", "--fail-on", "regression")
    assert done.code == 0
    assert "none of 70 cases broke or fixed\n" in done.out


def test_how_a_run_ended():
    assert stop_of(Trace(input="q", output="a")) is None
    assert stop_of(Trace(input="q", status="timeout")) == "timeout"
    assert stop_of(Trace(input="q", output="a", metadata={"stop_reason": "end_turn"})) == "end_turn"
    calls = [
        Step.llm_call("m", metadata={"finish_reason": one}) for one in ("tool_calls", "length")
    ]
    assert stop_of(Trace(input="q", output="a", steps=calls)) == "length"
