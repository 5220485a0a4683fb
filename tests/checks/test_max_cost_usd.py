from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, model_call, paid, refusal, run
from trialrun import Step, pricing
from trialrun.pricing import PriceBook, Rates

BOOK = PriceBook({"custom-model": Rates(input=1.0, output=2.0)})


def found(limit, trace):
    return first("cost", {"max_cost_usd": limit}, trace)


@pytest.mark.parametrize(("limit", "status"), [(0.74, FAIL), (0.75, PASS), (0.76, PASS)])
def test_equal_is_within_the_limit(limit, status):
    assert found(limit, paid(0.5, 0.25)).status is status


def test_rounding_errors_do_not_fail_an_equal_cost():
    assert found(0.3, paid(0.1, 0.2)).status is PASS
    assert found(0.3, paid(0.1, 0.2001)).status is FAIL


def test_zero_allows_free_calls_only():
    assert found(0, run("search")).status is PASS
    assert found(0, paid(0.0)).status is PASS
    assert found(0, paid(0.000001)).status is FAIL


def test_tokens_are_priced_if_no_cost_is_recorded():
    with pricing.using(BOOK):
        trace = run(model_call(1_000_000, 500_000, "custom-model"))  # 1 + 1 dollars
        assert found(2.0, trace).status is PASS
        assert found(1.99, trace).status is FAIL


def test_a_recorded_cost_comes_before_priced_tokens():
    with pricing.using(BOOK):
        trace = run(model_call(1_000_000, 0, "custom-model", cost=0.25))
        assert found(0.25, trace).status is PASS


def test_recorded_and_priced_calls_are_added():
    with pricing.using(BOOK):
        calls = [model_call(1_000_000, 0, "custom-model"), Step.llm_call("other", cost_usd=0.5)]
        assert found(1.5, run(*calls)).status is PASS
        assert found(1.49, run(*calls)).status is FAIL


def test_a_model_without_a_price_is_unknown_and_named():
    result = found(100, run(*paid(0.1).steps, model_call(1, 1, "unlisted-1")))
    assert result.status is UNKNOWN
    assert "unlisted-1" in result.message


@pytest.mark.parametrize("kind", ["costs", "tokens"])
def test_it_is_named_if_only_costs_or_tokens_were_recorded(kind):
    trace = run(model_call(1, 1, "unlisted-1"), without=[kind])
    assert "unlisted-1" in found(100, trace).message


def test_a_model_without_a_price_but_with_a_recorded_cost_is_known():
    assert found(0.5, run(model_call(1, 1, "unlisted-1", cost=0.5))).status is PASS


def test_a_call_with_neither_cost_nor_tokens_is_unknown():
    assert found(100, run(Step.llm_call("gpt-4o"))).status is UNKNOWN


def test_a_run_that_recorded_neither_costs_nor_tokens_is_unknown():
    result = found(100, run(without=["costs", "tokens"]))
    assert result.status is UNKNOWN
    assert "recorded" in result.message


def test_tokens_are_enough_if_costs_were_not_recorded():
    with pricing.using(BOOK):
        trace = run(model_call(1_000_000, 0, "custom-model"), without=["costs"])
        assert found(1.0, trace).status is PASS


@pytest.mark.parametrize("limit", [-0.01, float("nan"), float("inf"), "1"])
def test_a_limit_that_is_not_an_amount_is_a_spec_error(limit):
    assert "max_cost_usd" in refusal("cost", {"max_cost_usd": limit})
