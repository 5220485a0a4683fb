from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, run
from trialrun import Step


def found(limit, *steps):
    return first("path", {"max_loops": limit}, run(*steps)).status


@pytest.mark.parametrize(("limit", "status"), [(2, FAIL), (3, PASS), (4, PASS)])
def test_the_documented_example_has_three_loops(limit, status):
    assert found(limit, "search", "search", "grade", "grade", "grade") is status


def test_zero_allows_no_loop():
    assert found(0, "a", "b", "a", "b") is PASS
    assert found(0, "a", "a") is FAIL
    assert found(0) is PASS


def test_the_arguments_do_not_matter():
    calls = [Step.tool_call("search", {"q": "one"}), Step.tool_call("search", {"q": "two"})]
    assert found(0, *calls) is FAIL


def test_steps_between_two_calls_do_not_separate_them():
    assert found(0, "search", Step.llm_call("m"), "search") is FAIL


def test_a_negative_limit_is_a_spec_error():
    assert "max_loops" in refusal("path", {"max_loops": -1})
