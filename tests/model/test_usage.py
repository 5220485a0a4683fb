"""Usage as providers write it: what is read, what it adds up to, what it costs.

Every expected figure was computed by hand from the rates beside it.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from trialrun import Step, TokenUsage, Trace, pricing
from trialrun.errors import TraceWarning
from trialrun.model.trace_format import from_plain
from trialrun.model.usage import split_tokens
from trialrun.pricing import PriceBook, Rates

# Dollars for a million tokens. Each rate differs, so that a token in a wrong group is seen.
RATES = Rates(
    input=1.0, output=10.0, cache_read=0.1, cache_write=2.0, cache_write_1h=4.0, reasoning=20.0
)
BOOK = PriceBook(dict.fromkeys(("gpt-x", "claude-x", "gemini-x", "other"), RATES))
MICRO = 1e-6

OPENAI = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": 8,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}
RESPONSES = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 64},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 8},
    "total_tokens": 120,
}
ANTHROPIC = {
    "input_tokens": 36,
    "output_tokens": 20,
    "cache_read_input_tokens": 64,
    "cache_creation_input_tokens": 10,
    "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 0},
    "server_tool_use": {"web_search_requests": 0},
    "service_tier": "standard",
}
GOOGLE = {
    "promptTokenCount": 100,
    "candidatesTokenCount": 12,
    "thoughtsTokenCount": 8,
    "cachedContentTokenCount": 64,
    "totalTokenCount": 120,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
}
GOOGLE_SNAKE = {
    "prompt_token_count": 100,
    "candidates_token_count": 12,
    "thoughts_token_count": 8,
    "cached_content_token_count": 64,
    "total_token_count": 120,
    "prompt_tokens_details": [{"modality": "TEXT", "token_count": 100}],
}
# 36 fresh, 64 read from the cache, 12 said, 8 thought: 36 + 6.4 + 120 + 160
IN_ALL = 322.4 * MICRO
# 36 fresh, 64 read, 10 written (2.0 each), 20 out: 36 + 6.4 + 20 + 200
OF_CLAUDE = 262.4 * MICRO


def without_total(usage):
    return {key: value for key, value in usage.items() if not key.lower().startswith("total")}


def call(usage, model="gpt-x", field="tokens", **more):
    step = {"type": "llm_call", "model": model, field: usage, **more}
    return {"input": "q", "output": "a", "steps": [step]}


def read(usage, model="gpt-x", field="tokens"):
    trace, notes = from_plain(call(usage, model, field))
    with pricing.using(BOOK):
        return trace.total_tokens, trace.total_cost_usd, notes


@pytest.mark.parametrize("field", ["tokens", "usage"])
@pytest.mark.parametrize(
    ("usage", "model", "tokens", "cost"),
    [
        (OPENAI, "gpt-x", 120, IN_ALL),
        (without_total(OPENAI), "gpt-x", 120, IN_ALL),
        (RESPONSES, "gpt-x", 120, IN_ALL),
        (without_total(RESPONSES), "gpt-x", 120, IN_ALL),
        (ANTHROPIC, "claude-x", 130, OF_CLAUDE),
        (ANTHROPIC, "other", 130, OF_CLAUDE),  # the names of the fields say it, too
        (GOOGLE, "gemini-x", 120, IN_ALL),
        (without_total(GOOGLE), "gemini-x", 120, IN_ALL),
        (GOOGLE_SNAKE, "gemini-x", 120, IN_ALL),
        (GOOGLE, "other", 120, IN_ALL),
    ],
)
def test_usage_of_a_provider_is_read(usage, model, tokens, cost, field):
    assert read(usage, model, field) == (tokens, pytest.approx(cost), [])


def test_usage_metadata_is_read_too():
    assert read(GOOGLE, "gemini-x", "usageMetadata")[:2] == (120, pytest.approx(IN_ALL))
    assert read(GOOGLE_SNAKE, "gemini-x", "usage_metadata")[:2] == (120, pytest.approx(IN_ALL))


def test_cached_tokens_of_openai_are_priced_once_at_list_prices():
    # gpt-4o-mini: 0.15 in, 0.075 cached, 0.60 out: 1,000 × 0.15 + 99,000 × 0.075 + 10 × 0.6
    usage = {"prompt_tokens": 100_000, "completion_tokens": 10, "total_tokens": 100_010}
    usage["prompt_tokens_details"] = {"cached_tokens": 99_000}
    trace, notes = from_plain(call(usage, "gpt-4o-mini"))
    assert (round(trace.total_cost_usd, 9), trace.total_tokens, notes) == (0.007581, 100_010, [])


def test_usage_of_anthropic_at_list_prices():
    # claude-3-5-sonnet: 3 in, 0.30 read, 3.75 written, 15 out
    usage = {"input_tokens": 10, "output_tokens": 10}
    usage |= {"cache_read_input_tokens": 200_000, "cache_creation_input_tokens": 50_000}
    trace, _ = from_plain(
        call(usage, "claude-3-5-sonnet-20241022", timestamp="2025-01-15T12:00:00Z")
    )
    assert trace.total_tokens == 250_020
    assert trace.total_cost_usd == pytest.approx((30 + 150 + 60_000 + 187_500) * MICRO)


def test_cache_writes_for_an_hour_have_their_own_rate():
    usage = {"input_tokens": 1, "output_tokens": 1}
    usage["cache_creation"] = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 50}
    # 1 + 100 × 2 + 50 × 4 + 10
    assert read(usage, "claude-x")[:2] == (152, pytest.approx(411 * MICRO))
    then = datetime(2025, 11, 1, tzinfo=UTC)
    tokens = TokenUsage(cache_write_tokens=1000, cache_write_1h_tokens=400)
    step = Step.llm_call("claude-sonnet-4-5", tokens=tokens, timestamp=then)
    # 3.75 for five minutes, 6 for an hour
    assert pricing.step_cost(step) == pytest.approx((600 * 3.75 + 400 * 6) * MICRO)


def test_a_gateway_reports_claude_as_openai_does():
    """The nested name says that cached tokens are part of the prompt, whatever the model."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    usage["prompt_tokens_details"] = {"cached_tokens": 64}
    usage |= {"cache_read_input_tokens": 64, "cache_creation_input_tokens": 0}
    # 36 + 6.4 + 200
    assert read(usage, "claude-x") == (120, pytest.approx(242.4 * MICRO), [])


@pytest.mark.parametrize(
    ("usage", "model", "tokens", "cost"),
    [
        # Bedrock, as Anthropic: 10 + 3 + 20 × 2 + 50
        (
            {"inputTokens": 10, "outputTokens": 5, "totalTokens": 65}
            | {"cacheReadInputTokens": 30, "cacheWriteInputTokens": 20},
            "other",
            65,
            103,
        ),
        # DeepSeek: 4 + 0.6 + 20
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
            | {"prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 4},
            "other",
            12,
            24.6,
        ),
        # LangChain: 4 + 0.6 + 10 + 20, for Claude too
        *(
            (
                {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
                | {"input_token_details": {"cache_read": 6}}
                | {"output_token_details": {"reasoning": 1}},
                model,
                12,
                34.6,
            )
            for model in ("other", "claude-x")
        ),
        # Google's own tools have prompts: (100 + 30) + 10
        (
            {"promptTokenCount": 100, "toolUsePromptTokenCount": 30}
            | {"candidatesTokenCount": 1, "totalTokenCount": 131},
            "gemini-x",
            131,
            140,
        ),
        # As many cached as reasoning tokens: 50 + 5 + 100 + 1000
        (
            {"promptTokenCount": 100, "cachedContentTokenCount": 50}
            | {"candidatesTokenCount": 10, "thoughtsTokenCount": 50, "totalTokenCount": 160},
            "gemini-x",
            160,
            1155,
        ),
    ],
)
def test_other_sources(usage, model, tokens, cost):
    assert read(usage, model) == (tokens, pytest.approx(cost * MICRO), [])


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({"vendor_tokens": 5}, "vendor_tokens"),
        ({"vendor_tokens": 0}, "vendor_tokens"),
        ({"prompt_tokens_details": {"audio_tokens": 9}}, "prompt_tokens_details.audio_tokens"),
        ({"details": {"a": 1, "b": {"c": 2}}}, "details.a, details.b"),
        ({"service_tier": "priority"}, "service_tier"),
        (
            {"promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 3}]},
            "promptTokensDetails",
        ),
    ],
)
def test_unknown_fields_are_reported_and_kept(more, names):
    trace, notes = from_plain(call({"prompt_tokens": 1, "completion_tokens": 1, **more}))
    assert notes == [f"steps[0].tokens: not counted: {names}; kept in the metadata"]
    assert list(trace.steps[0].metadata["tokens"]) == names.split(", ")
    with pytest.warns(TraceWarning, match="not counted"):
        Trace.from_dict(call({"prompt_tokens": 1, "completion_tokens": 1, **more}))


def test_the_same_unknown_fields_of_many_calls_are_one_note():
    steps = call({"prompt_tokens": 1, "completion_tokens": 1, "x": 1})["steps"] * 3
    _, notes = from_plain({"input": "q", "steps": steps})
    assert notes == ["steps[0].tokens: not counted: x (and in 2 more); kept in the metadata"]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 1, "input_tokens": 900, "completion_tokens": 1},
        {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": -5},
        {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": "many"},
        {
            "input_tokens": 1,
            "output_tokens": 1,
            "cache_creation": {"ephemeral_1h_input_tokens": -1},
        },
        {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 2}
        | {"cache_creation": {"ephemeral_1h_input_tokens": 900}},
        {"prompt_tokens": 1, "completion_tokens": 1}
        | {"prompt_tokens_details": {"cached_tokens": float("nan")}},
        {"promptTokenCount": 10, "candidatesTokenCount": 1, "thoughtsTokenCount": 1.5},
        {"promptTokenCount": 10},
    ],
)
def test_counts_that_contradict_each_other_or_are_unusable_leave_the_usage_unknown(usage):
    tokens, cost, notes = read(usage)
    assert (tokens, cost) == (None, None)
    assert len(notes) == 1 and notes[0].endswith("left unknown")


def test_usage_beside_tokens_is_reported():
    step = {"type": "llm_call", "tokens": {"prompt_tokens": 1, "completion_tokens": 1}}
    _, notes = from_plain({"input": "q", "steps": [step | {"usage": {"prompt_tokens": 900}}]})
    assert notes == ["steps[0].usage: not read, the step has `tokens` too"]


# One rule for total and price


@pytest.mark.parametrize(
    ("model", "counts", "total"),
    [
        ("claude-x", {"cached": 64}, 100 + 20 + 64),
        ("claude-x", {"cached": 64, "cache_write": 10}, 100 + 20 + 74),
        ("claude-x", {"cached": 64, "reasoning": 8}, 100 + 20 + 64),
        ("gpt-x", {"cached": 64, "cache_write": 10, "reasoning": 8}, 120),
        ("gpt-x", {"cached": 200}, 100 + 20 + 200),  # more than the prompt: not a part of it
        ("gpt-x", {"reasoning": 5000}, 100 + 20 + 5000),
        ("gpt-x", {"cached": 64, "total": 184}, 184),
        ("claude-x", {"cached": 64, "total": 120}, 184),  # what is priced is counted
        (None, {"cached": 64}, 120),
    ],
)
def test_every_token_that_is_priced_is_counted(model, counts, total):
    given = TokenUsage(100, 20, **{f"{kind}_tokens": count for kind, count in counts.items()})
    step = Step(type="llm_call", model=model, tokens=given)
    assert step.tokens.total_tokens == split_tokens(step.tokens, model).total == total
    assert Trace(input="q", steps=[step]).total_tokens == total
    again = Step(type="llm_call", id=step.id, model=model, tokens=step.tokens)
    assert again == step


def test_a_total_beyond_its_kinds_has_no_price():
    step = Step.llm_call("gpt-x", tokens=TokenUsage(100, 20, 150, cached_tokens=64))
    with pricing.using(BOOK):
        assert pricing.step_cost(step) is None
        (reason,) = pricing.unpriced([step])
    assert "total" in reason


# Usage and costs that cannot be meant


def silent(**fields):
    return Step.llm_call("gpt-4o", output="hello", tokens=TokenUsage(), **fields)


def test_output_and_zero_tokens_mean_that_usage_was_not_recorded():
    trace = Trace(input="q", output="a", steps=[silent(), silent()])
    assert (trace.total_tokens, trace.total_cost_usd) == (None, None)
    assert "usage was not recorded" in pricing.unpriced(trace.steps)[0]


def test_one_call_with_usage_is_enough():
    trace = Trace(input="q", output="a", steps=[silent()])
    trace.add_step(Step.llm_call("gpt-4o", tokens=TokenUsage(1_000_000)))
    assert (trace.total_tokens, trace.total_cost_usd) == (1_000_000, 2.5)


def test_zero_tokens_without_output_are_zero():
    trace = Trace(input="q", output="a", steps=[Step.llm_call("gpt-4o", tokens=TokenUsage())])
    assert (trace.total_tokens, trace.total_cost_usd) == (0, 0.0)


def test_a_recorded_cost_counts_beside_zero_tokens():
    assert Trace(input="q", steps=[silent(cost_usd=0.5)]).total_cost_usd == 0.5


@pytest.mark.parametrize(
    "step",
    [
        Step.llm_call("gpt-4o", tokens=TokenUsage(2_000_000), cost_usd=0),
        Step.llm_call("gpt-4o", tokens=TokenUsage(total_tokens=9), cost_usd=0.0),
        Step.llm_call("gpt-4o", output="hello", cost_usd=0),
        silent(cost_usd=0),
    ],
)
def test_a_cost_of_0_of_a_model_with_a_price_is_unknown(step):
    trace = Trace(input="q", output="a", steps=[step])
    assert trace.total_cost_usd is None
    assert "recorded cost of $0" in pricing.unpriced(trace.steps)[-1]
    with pricing.using(PriceBook({"gpt-4o": Rates(input=0, output=0)})):
        assert trace.total_cost_usd == 0.0


def test_a_cost_of_0_counts_without_a_price_or_without_work():
    for step in (
        Step.llm_call("local-model", output="hello", tokens=TokenUsage(9), cost_usd=0),
        Step.llm_call("gpt-4o", tokens=TokenUsage(), cost_usd=0),
        Step(type="llm_call", output="hello", cost_usd=0),
        Step.tool_call("search", cost_usd=0),
    ):
        assert (
            Trace(input="q", steps=[Step.llm_call("m", cost_usd=0.5), step]).total_cost_usd == 0.5
        )


def test_a_gateway_that_counts_cached_tokens_of_claude_inside_the_prompt():
    """LiteLLM: 3439 prompt tokens of which 3435 were written to the cache, 3543 in all."""
    given = {"prompt_tokens": 3439, "completion_tokens": 104, "total_tokens": 3543}
    given |= {"cache_creation_input_tokens": 3435, "cache_read_input_tokens": 0}
    step = {"type": "llm_call", "model": "claude-3-5-sonnet-20241022", "tokens": given}
    trace = Trace.from_dict({"input": "q", "output": "a", "steps": [step]})
    tokens = trace.llm_calls[0].tokens
    assert (tokens.prompt_tokens, tokens.cache_write_tokens, tokens.total_tokens) == (4, 3435, 3543)
