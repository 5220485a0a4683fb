from __future__ import annotations

import pytest

from tests.helpers import measured, run, undefined
from trialrun.metrics import RetryRateMetric

METRIC = RetryRateMetric()


@pytest.mark.parametrize(
    ("tools", "value", "unique", "repeated"),
    [
        ("ab", 0.0, 2, 0),
        ("aabb", 0.5, 2, 2),
        ("aab", 0.333, 2, 1),
        ("aaa", 0.667, 1, 2),
        ("aba", 0.333, 2, 1),
    ],
)
def test_it_is_1_minus_different_tools_over_calls(tools, value, unique, repeated):
    result = measured(METRIC, run(*tools))
    assert (result.value, result.unit) == (value, None)
    assert result.details == {
        "total_calls": len(tools),
        "unique_tools": unique,
        "repeated_calls": repeated,
    }


def test_without_calls_it_is_0_with_a_message():
    result = measured(METRIC, run())
    assert (result.value, result.details) == (0.0, {"message": "No tool calls"})


def test_it_is_undefined_if_calls_were_not_recorded():
    assert undefined(METRIC, "tool_calls")
