from __future__ import annotations

import pytest

from tests.helpers import measured, run, undefined
from trialrun import Step
from trialrun.metrics import AverageStepDurationMetric

METRIC = AverageStepDurationMetric()


def lasting(*durations):
    return run(*(Step.tool_call("a", duration_ms=duration) for duration in durations))


def test_it_is_the_mean_with_details():
    result = measured(METRIC, lasting(100, 200, 300))
    assert (result.value, result.unit) == (200.0, "ms")
    assert result.details == {"total_duration_ms": 600, "step_count": 3}


@pytest.mark.parametrize(
    ("durations", "value"), [((1, 1, 2), 1.33), ((1, 2, 2), 1.67), ((0.001, 0.001), 0.0)]
)
def test_it_has_two_digits(durations, value):
    assert measured(METRIC, lasting(*durations)).value == value


def test_a_step_without_a_duration_counts_as_0():
    assert measured(METRIC, lasting(100, None)).value == 50
    assert measured(METRIC, lasting(None)).value == 0


def test_without_steps_it_is_0():
    assert measured(METRIC, run()).value == 0


def test_it_is_undefined_if_timings_were_not_recorded():
    assert undefined(METRIC, "timings")
