from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import Step

START = datetime(2026, 1, 1, tzinfo=UTC)


def step(at_ms=None, duration_ms=None):
    moment = None if at_ms is None else START + timedelta(milliseconds=at_ms)
    return Step.tool_call("a", timestamp=moment, duration_ms=duration_ms)


def found(limit, *steps, **fields):
    return first("cost", {"max_latency_ms": limit}, run(*steps, **fields)).status


def takes(milliseconds, *steps, **fields):
    """Whether the run takes exactly this long: it passes this limit, and fails a lower one."""
    kept = found(milliseconds, *steps, **fields)
    return (kept, found(milliseconds - 0.5, *steps, **fields)) == (PASS, FAIL)


def test_equal_is_within_the_limit():
    assert found(1200, duration_ms=1200) is PASS
    assert found(1199.9, duration_ms=1200) is FAIL
    assert found(0, duration_ms=0) is PASS


def test_the_duration_of_the_trace_comes_first():
    times = {"started_at": START, "completed_at": START + timedelta(seconds=9)}
    assert takes(1200, step(0, 5000), duration_ms=1200, **times)


def test_without_one_it_is_last_end_minus_first_start():
    assert takes(700, step(100, 50), step(500, 300), step(200, 100))


def test_the_last_end_may_be_that_of_an_earlier_step():
    assert takes(1000, step(0, 1000), step(200, 100))


def test_the_times_of_the_trace_are_its_start_and_end():
    times = {"started_at": START, "completed_at": START + timedelta(milliseconds=900)}
    assert takes(900, step(100, 50), **times)


def test_without_times_the_durations_of_the_steps_are_added():
    assert takes(300, step(duration_ms=100), step(duration_ms=200))


def test_without_any_of_these_it_is_unknown():
    assert found(1000, step()) is UNKNOWN
    assert found(1000) is UNKNOWN


def test_timings_that_were_not_recorded_are_unknown():
    assert found(1000, duration_ms=10, without=["timings"]) is UNKNOWN


def test_a_negative_limit_is_a_spec_error():
    assert "max_latency_ms" in refusal("cost", {"max_latency_ms": -1})


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), "10", True])
def test_a_limit_that_is_not_a_number_is_a_spec_error(limit):
    assert "max_latency_ms" in refusal("cost", {"max_latency_ms": limit})
