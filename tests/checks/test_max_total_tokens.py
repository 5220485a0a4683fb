from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, model_call, outcome, refusal, run
from trialrun import Step


def found(limit, *steps, **fields):
    return first("cost", {"max_total_tokens": limit}, run(*steps, **fields)).status


@pytest.mark.parametrize(("limit", "status"), [(99, FAIL), (100, PASS), (101, PASS)])
def test_prompt_and_completion_are_added_and_equal_is_within_the_limit(limit, status):
    assert found(limit, model_call(60, 10), model_call(20, 10)) is status


@pytest.mark.parametrize(("limit", "status"), [(119, FAIL), (120, PASS)])
def test_a_recorded_total_counts_instead_of_the_sum(limit, status):
    assert found(limit, model_call(60, 10, total_tokens=100), model_call(15, 5)) is status


def test_cached_and_reasoning_tokens_are_part_of_prompt_and_completion():
    assert found(30, model_call(20, 10, cached_tokens=15, reasoning_tokens=5)) is PASS


def test_a_run_without_model_calls_used_no_tokens():
    assert found(0, "search") is PASS


def test_tokens_that_were_not_recorded_are_unknown():
    assert found(1000, model_call(1), without=["tokens"]) is UNKNOWN


def test_one_call_without_a_count_makes_the_total_unknown():
    assert found(1000, model_call(1), Step.llm_call("a-model")) is UNKNOWN


def test_default_severity_is_warn():
    result = outcome("cost", {"max_total_tokens": 0}, run(model_call(1)))
    assert result.status == "warn"


@pytest.mark.parametrize("limit", [-1, 1.5, "10"])
def test_a_limit_that_is_not_a_count_is_a_spec_error(limit):
    assert "max_total_tokens" in refusal("cost", {"max_total_tokens": limit})
