from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, SKIPPED, UNKNOWN, first, outcome, paid, refusal, run
from trialrun import Step

UNPRICED = Step.llm_call("unlisted-1")


def found(limit, trace, baseline=None):
    return first("cost", {"max_cost_multiplier": limit}, trace, baseline)


@pytest.mark.parametrize(("limit", "status"), [(2.99, FAIL), (3, PASS), (3.01, PASS)])
def test_equal_is_within_the_limit(limit, status):
    assert found(limit, paid(0.75), paid(0.25)).status is status


def test_rounding_errors_do_not_fail_an_equal_cost():
    # Three calls at 0.1 are 0.30000000000000004 in floating point, which is three times 0.1.
    assert found(3, paid(0.1, 0.1, 0.1), paid(0.1)).status is PASS
    assert found(1, paid(0.1, 0.2), paid(0.3)).status is PASS


def test_a_limit_below_1_requires_a_cheaper_run():
    assert found(0.5, paid(0.5), paid(1.0)).status is PASS
    assert found(0.5, paid(0.51), paid(1.0)).status is FAIL


def test_a_run_that_cost_nothing_is_within_any_limit():
    assert found(0.5, run(), paid(1.0)).status is PASS


def test_the_message_says_how_many_times():
    assert "3.00 times" in found(2, paid(0.75), paid(0.25)).message


def test_without_a_baseline_it_is_skipped_and_says_so():
    result = found(2, paid(1.0))
    assert result.status is SKIPPED
    assert "no baseline" in result.message


@pytest.mark.parametrize("baseline", [run(), paid(0.0)], ids=["no calls", "free calls"])
def test_with_a_baseline_that_cost_nothing_it_is_skipped_and_says_so(baseline):
    result = found(2, paid(1.0), baseline)
    assert result.status is SKIPPED
    assert "baseline" in result.message


def test_a_layer_with_only_a_skipped_check_is_skipped():
    layer = outcome("cost", {"max_cost_multiplier": 2}, paid(1.0)).layers["cost"]
    assert layer.status == "skip"


def test_an_unknown_cost_on_either_side_is_unknown():
    assert found(2, run(UNPRICED), paid(1.0)).status is UNKNOWN
    assert found(2, paid(1.0), run(UNPRICED)).status is UNKNOWN


def test_the_message_names_the_model_without_a_price():
    assert "unlisted-1" in found(2, run(UNPRICED), paid(1.0)).message


@pytest.mark.parametrize("limit", [-1, "2", True])
def test_a_limit_that_is_not_an_amount_is_a_spec_error(limit):
    assert "max_cost_multiplier" in refusal("cost", {"max_cost_multiplier": limit})
