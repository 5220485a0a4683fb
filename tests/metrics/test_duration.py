from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.helpers import measured, run, undefined
from trialrun import Step
from trialrun.metrics import DurationMetric

METRIC = DurationMetric()
START = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_duration_of_the_trace_comes_first():
    step = Step.tool_call("a", duration_ms=100)
    result = measured(METRIC, run(step, duration_ms=12.5))
    assert (result.value, result.unit) == (12.5, "ms")


def test_without_one_it_is_last_end_minus_first_start():
    later = START + timedelta(milliseconds=400)
    steps = [
        Step.tool_call("a", timestamp=START, duration_ms=100),
        Step.tool_call("b", timestamp=later, duration_ms=50),
    ]
    assert measured(METRIC, run(*steps)).value == 450


def test_without_times_the_durations_of_the_steps_are_added():
    steps = [Step.tool_call("a", duration_ms=100), Step.tool_call("b", duration_ms=50.5)]
    assert measured(METRIC, run(*steps)).value == 150.5


def test_a_run_without_steps_can_have_a_duration():
    assert measured(METRIC, run(duration_ms=12.5)).value == 12.5


def test_a_run_without_steps_and_times_took_0():
    assert measured(METRIC, run()).value == 0


def test_it_is_undefined_if_timings_were_not_recorded():
    assert undefined(METRIC, "timings")
