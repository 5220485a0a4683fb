from __future__ import annotations

from typing import ClassVar

import pytest

from tests.helpers import measured, model_call, run
from trialrun import EvalCase, Step, evaluate, pricing
from trialrun.metrics import TokenCostMetric
from trialrun.pricing import PriceBook, Rates

METRIC = TokenCostMetric()
BOOK = PriceBook({"custom-model": Rates(input=5.0, output=15.0)})


class CustomPrices(TokenCostMetric):
    PRICES: ClassVar = {
        "gpt-4o": {"input": 5.0, "output": 15.0},
        "gpt-4o-mini": {"input": 0.15, "output": 0.60},
    }


def test_input_and_output_are_priced_by_the_million():
    with pricing.using(BOOK):
        result = measured(METRIC, run(model_call(1000, 200, "custom-model")))
    assert (result.value, result.unit) == (0.008, "USD")  # 0.005 + 0.003
    assert result.details == {
        "1": {"model": "custom-model", "input_tokens": 1000, "output_tokens": 200, "cost": 0.008}
    }


def test_it_has_six_digits_and_rounds_the_sum_not_the_parts():
    with pricing.using(PriceBook({"m": Rates(input=0.4, output=0)})):
        result = measured(METRIC, run(*(model_call(1, 0, "m") for _ in range(3))))
    assert result.value == 0.000001  # 0.0000004 each: three are 0.0000012
    assert [entry["cost"] for entry in result.details.values()] == [0.0, 0.0, 0.0]


def test_a_run_without_model_calls_costs_0():
    assert measured(METRIC, run("search")).value == 0


def test_recorded_costs_come_before_priced_tokens():
    with pricing.using(BOOK):
        calls = [model_call(1000, 0, "custom-model", cost=0.5), model_call(1000, 0, "custom-model")]
        assert measured(METRIC, run(*calls)).value == 0.505


def test_one_call_without_a_price_makes_it_undefined():
    calls = [Step.llm_call("m", cost_usd=0.5), model_call(1, 1, "unlisted-1")]
    result = measured(METRIC, run(*calls))
    assert result.value is None
    assert "unlisted-1" in result.details["message"]


def test_it_is_undefined_if_neither_tokens_nor_costs_were_recorded():
    case = EvalCase.from_dict({"query": "question", "correctness": {"exact_match": "answer"}})
    trace = run(without=["tokens", "costs"])
    (result,) = evaluate(case, trace, metrics=[METRIC]).metrics
    assert (result.value, result.details) == (
        None,
        {"message": "not recorded in this trace: costs"},
    )
    assert measured(METRIC, trace).value == 0  # the formula does not look at what was recorded


@pytest.mark.parametrize("kind", ["tokens", "costs"])
def test_one_of_tokens_and_costs_is_enough(kind):
    trace = run(Step.llm_call("m", cost_usd=0.5), without=[kind])
    assert measured(METRIC, trace).value == 0.5


def test_with_custom_prices_a_call_without_tokens_has_its_recorded_cost():
    assert measured(CustomPrices(), run(Step.llm_call("gpt-4o", cost_usd=0.5))).value == 0.5
    assert measured(CustomPrices(), run(Step.llm_call("gpt-4o"))).value is None


@pytest.mark.parametrize(
    ("model", "value"),
    [
        ("gpt-4o", 20.0),
        ("GPT-4o", 20.0),
        ("gpt-4o-2024-08-06", 20.0),
        ("gpt-4o-mini", 0.75),
        ("gpt-4o-mini-2024", 0.75),
        ("openai/gpt-4o-mini-2024-07-18", 0.75),
    ],
)
def test_custom_prices_use_the_longest_matching_name(model, value):
    assert measured(CustomPrices(), run(model_call(1_000_000, 1_000_000, model))).value == value


def test_the_order_of_custom_prices_does_not_matter():
    class Turned(TokenCostMetric):
        PRICES: ClassVar = dict(reversed(CustomPrices.PRICES.items()))

    trace = run(model_call(1_000_000, 1_000_000, "gpt-4o-mini-2024"))
    assert measured(Turned(), trace).value == 0.75
