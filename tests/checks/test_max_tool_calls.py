from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import Step


def found(limit, *steps, **fields):
    return first("path", {"max_tool_calls": limit}, run(*steps, **fields))


@pytest.mark.parametrize(("limit", "status"), [(1, FAIL), (2, PASS), (3, PASS)])
def test_equal_is_within_the_limit(limit, status):
    assert found(limit, "a", "a").status is status


def test_zero_allows_no_call():
    assert found(0).status is PASS
    assert found(0, "a").status is FAIL


def test_only_tool_calls_count():
    assert found(0, Step.llm_call("m"), Step.reasoning("hm"), Step.handoff("b")).status is PASS


def test_a_failed_call_counts():
    assert found(0, Step.tool_call("a", status="failure")).status is FAIL


def test_calls_that_were_not_recorded_are_unknown():
    assert found(5, without=["tool_calls"]).status is UNKNOWN


@pytest.mark.parametrize("limit", [-1, 1.5, "1", True])
def test_a_limit_that_is_not_a_count_is_a_spec_error(limit):
    assert "max_tool_calls" in refusal("path", {"max_tool_calls": limit})
