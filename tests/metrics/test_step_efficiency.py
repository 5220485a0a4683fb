from __future__ import annotations

import pytest

from tests.helpers import measured, run
from trialrun.metrics import StepEfficiencyMetric

METRIC = StepEfficiencyMetric()


@pytest.mark.parametrize(("steps", "value"), [(0, 1), (3, 1), (4, 1), (5, 0.8), (8, 0.5)])
def test_it_is_1_within_the_limit_else_limit_over_steps(steps, value):
    result = measured(METRIC, run(*["a"] * steps), path={"max_steps": 4})
    assert (result.value, result.unit) == (value, "ratio")
    assert result.details == {"actual_steps": steps, "max_steps": 4}


@pytest.mark.parametrize("case", [{}, {"path": {"max_tool_calls": 1}}])
def test_without_a_limit_it_is_1(case):
    result = measured(METRIC, run("a", "b"), **case)
    assert (result.value, result.details) == (1, {"actual_steps": 2, "max_steps": None})


def test_the_limit_may_be_in_the_expected_block_or_have_a_severity():
    assert measured(METRIC, run("a", "b"), expected={"max_steps": 1}).value == 0.5
    limit = {"max_steps": {"value": 1, "severity": "fail"}}
    assert measured(METRIC, run("a", "b"), path=limit).value == 0.5


def test_with_a_limit_of_0_any_step_gives_0():
    assert measured(METRIC, run("a"), path={"max_steps": 0}).value == 0
    assert measured(METRIC, run(), path={"max_steps": 0}).value == 1
