from __future__ import annotations

import pytest

from tests.helpers import measured, run
from trialrun.metrics import ToolF1Metric

METRIC = ToolF1Metric()


def of(expected, *tools, **fields):
    return measured(METRIC, run(*tools, **fields), path={"expected_tools": expected})


@pytest.mark.parametrize(
    ("expected", "used", "value"),
    [("ab", "ba", 1.0), ("ab", "bc", 0.5), ("abc", "ab", 0.8), ("ab", "", 0.0), ("", "", 1.0)],
)
def test_it_is_the_harmonic_mean_of_recall_and_precision(expected, used, value):
    result = of(list(expected), *used)
    assert (result.value, result.unit) == (value, "ratio")


def test_the_expected_block_names_tools_too():
    result = measured(METRIC, run("a", "c"), expected={"tools_called": ["a", "b"]})
    assert result.value == 0.5


@pytest.mark.parametrize("case", [{}, {"path": {"max_steps": 1}}])
def test_without_expected_tools_it_is_undefined(case):
    result = measured(METRIC, run("a"), **case)
    assert result.value is None
    assert "expected_tools" in result.details["message"]


def test_it_is_undefined_where_calls_were_not_recorded():
    assert of(["a"], without=["tool_calls"]).value is None
