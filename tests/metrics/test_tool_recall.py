from __future__ import annotations

import pytest

from tests.helpers import measured, run
from trialrun.metrics import ToolRecallMetric

METRIC = ToolRecallMetric()


def of(expected, *tools, **fields):
    return measured(METRIC, run(*tools, **fields), path={"expected_tools": expected})


@pytest.mark.parametrize(
    ("expected", "used", "value"),
    [("ab", "ba", 1.0), ("ab", "aac", 0.5), ("abc", "ab", 2 / 3), ("ab", "", 0.0), ("", "a", 1.0)],
)
def test_it_is_the_share_of_the_expected_tools(expected, used, value):
    result = of(list(expected), *used)
    assert (result.value, result.unit) == (value, "ratio")


def test_the_expected_block_names_tools_too():
    result = measured(METRIC, run("a"), expected={"tools_called": ["a", "b"]})
    assert result.value == 0.5


@pytest.mark.parametrize("case", [{}, {"path": {"max_steps": 1}}])
def test_without_expected_tools_it_is_undefined(case):
    result = measured(METRIC, run("a"), **case)
    assert result.value is None
    assert "expected_tools" in result.details["message"]


def test_it_is_undefined_where_calls_were_not_recorded():
    assert of(["a"], without=["tool_calls"]).value is None
