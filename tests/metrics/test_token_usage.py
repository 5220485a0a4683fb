from __future__ import annotations

from tests.helpers import measured, model_call, run, undefined
from trialrun.metrics import TokenUsageMetric

METRIC = TokenUsageMetric()


def test_the_tokens_of_all_model_calls_are_added():
    result = measured(METRIC, run(model_call(90, 10), "search", model_call(7, 3)))
    assert (result.value, result.unit, result.details) == (110, "tokens", {"llm_calls": 2})


def test_a_recorded_total_counts_instead_of_the_sum():
    result = measured(METRIC, run(model_call(90, 10, total_tokens=150), model_call(1, 1)))
    assert result.value == 152


def test_a_run_without_model_calls_used_no_tokens():
    result = measured(METRIC, run("search"))
    assert (result.value, result.details) == (0, {"llm_calls": 0})


def test_it_is_undefined_if_tokens_were_not_recorded():
    assert undefined(METRIC, "tokens")
