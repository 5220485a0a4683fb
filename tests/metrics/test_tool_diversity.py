from __future__ import annotations

import pytest

from tests.helpers import measured, run, undefined
from trialrun import Step
from trialrun.metrics import ToolDiversityMetric

METRIC = ToolDiversityMetric()


@pytest.mark.parametrize(
    ("tools", "unique", "value"), [("ab", 2, 1.0), ("aab", 2, 2 / 3), ("aaaa", 1, 0.25)]
)
def test_it_is_different_tools_over_calls(tools, unique, value):
    result = measured(METRIC, run(*tools, Step.llm_call("m")))
    assert (result.value, result.unit) == (value, "ratio")
    assert result.details == {"unique_tools": unique, "total_calls": len(tools)}


def test_without_calls_it_is_0():
    assert measured(METRIC, run()).value == 0


def test_it_is_undefined_if_calls_were_not_recorded():
    assert undefined(METRIC, "tool_calls")
