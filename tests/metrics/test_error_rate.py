from __future__ import annotations

from tests.helpers import measured, run
from trialrun import Step
from trialrun.metrics import ErrorRateMetric

METRIC = ErrorRateMetric()


def test_it_is_failed_steps_over_all_steps():
    steps = [
        Step.tool_call("a", status="failure"),
        Step.llm_call("m", status="failure"),
        Step.tool_call("a"),
        Step.tool_call("a", status="pending"),
        Step.reasoning("hm"),
    ]
    result = measured(METRIC, run(*steps))
    assert (result.value, result.unit) == (0.4, "ratio")
    assert result.details == {"error_count": 2, "total_steps": 5}


def test_without_failures_it_is_0():
    result = measured(METRIC, run("a"))
    assert (result.value, result.details) == (0, {"error_count": 0, "total_steps": 1})


def test_without_steps_it_is_0():
    assert measured(METRIC, run()).value == 0
