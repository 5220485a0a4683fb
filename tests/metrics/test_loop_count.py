from __future__ import annotations

import pytest

from tests.helpers import measured, run, undefined
from trialrun import Step
from trialrun.metrics import LoopCountMetric

METRIC = LoopCountMetric()
EXAMPLE = ["search", "search", "grade", "grade", "grade"]


@pytest.mark.parametrize(
    ("tools", "value"), [(EXAMPLE, 3), (["a", "b", "a", "b"], 0), (["a"], 0), ([], 0)]
)
def test_it_counts_adjacent_equal_names(tools, value):
    assert measured(METRIC, run(*tools)).value == value


def test_steps_between_two_calls_do_not_separate_them():
    assert measured(METRIC, run("a", Step.llm_call("m"), "a")).value == 1


def test_it_is_undefined_if_calls_were_not_recorded():
    assert undefined(METRIC, "tool_calls")
