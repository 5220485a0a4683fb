from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, run
from trialrun import Step


def found(limit, *steps):
    return first("cost", {"max_llm_calls": limit}, run(*steps)).status


@pytest.mark.parametrize(("limit", "status"), [(1, FAIL), (2, PASS), (3, PASS)])
def test_equal_is_within_the_limit(limit, status):
    assert found(limit, Step.llm_call("m"), "search", Step.llm_call("m")) is status


def test_zero_allows_no_call_and_other_steps_do_not_count():
    assert found(0, "search", Step.reasoning("hm")) is PASS
    assert found(0, Step.llm_call("m")) is FAIL


def test_a_call_that_failed_counts():
    assert found(0, Step.llm_call("m", status="failure")) is FAIL


def test_a_negative_limit_is_a_spec_error():
    assert "max_llm_calls" in refusal("cost", {"max_llm_calls": -1})
