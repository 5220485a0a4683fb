"""What usage that was not recorded, or is nested, does to the verdict of a case."""

from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first
from trialrun import Step, TokenUsage, Trace


def judged(check, limit, *steps):
    trace = Trace(input="question", output="a", steps=list(steps))
    return first("cost", {check: {"value": limit, "severity": "fail"}}, trace)


def test_cached_tokens_of_claude_count_against_the_budget():
    usage = TokenUsage(10, 10, cached_tokens=200_000, cache_write_tokens=50_000)
    result = judged("max_total_tokens", 100, Step.llm_call("claude-3-5-sonnet", tokens=usage))
    assert (result.status, result.message) == (FAIL, "250,020 tokens, limit 100")


def test_reasoning_tokens_beside_the_completion_count_against_the_budget():
    usage = TokenUsage(10, 10, reasoning_tokens=5000)
    assert judged("max_total_tokens", 100, Step.llm_call("gpt-x", tokens=usage)).status is FAIL


@pytest.mark.parametrize("check", ["max_total_tokens", "max_cost_usd"])
def test_output_with_0_tokens_has_no_verdict(check):
    result = judged(check, 0, Step.llm_call("gpt-4o", output="hi", tokens=TokenUsage()))
    assert result.status is UNKNOWN
    assert "not recorded" in result.message


def test_a_cost_of_0_beside_tokens_of_a_priced_model_has_no_verdict():
    call = Step.llm_call("gpt-4o", output="hi", tokens=TokenUsage(2_000_000), cost_usd=0)
    result = judged("max_cost_usd", 0, call)
    assert result.status is UNKNOWN
    assert "prices:" in result.message


def test_a_model_that_the_user_calls_free_costs_nothing():
    from trialrun import EvalCase, evaluate
    from trialrun.pricing import PriceBook, Rates

    call = Step.llm_call("gpt-4o", output="hi", tokens=TokenUsage(2_000_000), cost_usd=0)
    case = EvalCase.from_dict({"query": "question", "cost": {"max_cost_usd": 0}})
    case.prices = PriceBook({"gpt-4o": Rates(input=0, output=0)})
    result = evaluate(case, Trace(input="question", output="a", steps=[call]))
    assert result.layers["cost"].checks[0].status is PASS
