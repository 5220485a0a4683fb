from __future__ import annotations

import pytest

from tests.helpers import measured, measured_beside, run
from trialrun.metrics import SequenceEditMetric

METRIC = SequenceEditMetric()


def of(reference, *tools, **fields):
    return measured(METRIC, run(*tools, **fields), reference_tools=list(reference))


def against(baseline, *tools, **case):
    return measured_beside(baseline, METRIC, run(*tools), **case).value


@pytest.mark.parametrize(
    ("reference", "tools", "value"),
    [("abcd", "abxd", 0.75), ("ab", "ba", 0.0), ("ab", "", 0.0), ("", "", 1.0), ("ab", "ab", 1.0)],
)
def test_it_is_the_share_of_calls_that_need_no_edit(reference, tools, value):
    result = of(reference, *tools)
    assert (result.value, result.unit) == (value, "ratio")


def test_without_a_reference_it_is_undefined():
    assert measured(METRIC, run("a")).value is None
    assert measured(METRIC, run("a"), path={"max_steps": 1}).value is None


def test_the_calls_of_the_baseline_are_the_reference_unless_the_case_names_its_own():
    assert against(run("a", "b"), "a", "b") == 1.0
    assert against(run("x"), "a", "b", reference_tools=["a", "b"]) == 1.0


def test_a_baseline_that_did_not_record_its_calls_is_no_reference():
    assert against(run(without=["tool_calls"]), "a") is None


def test_it_is_undefined_where_calls_were_not_recorded():
    assert of("a", without=["tool_calls"]).value is None
