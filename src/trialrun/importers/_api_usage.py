"""The tokens and costs of one model call, as APIs of models and frameworks write them."""

from __future__ import annotations

from typing import Any

from trialrun.importers._usage import count, counted
from trialrun.importers._values import dicts_in
from trialrun.model.trace import TokenUsage


def api_usage(given: Any, model: str | None) -> TokenUsage | None:
    """The usage in the way of OpenAI, Anthropic, LangChain or pydantic-ai; None if not recorded.

    Anthropic counts cached tokens beside the input, all others inside of it.
    """
    if not isinstance(given, dict):
        return None
    given = _with_compactions(given)
    details = _details(given)
    anthropic = "cache_read_input_tokens" in given or "cache_creation_input_tokens" in given
    read = _first(given, "prompt_tokens", "input_tokens", "request_tokens")
    made = _first(given, "completion_tokens", "output_tokens", "response_tokens")
    reasoning = _first(given, "output_reasoning_tokens", "reasoning_tokens") or _first(
        details, "reasoning_tokens", "reasoning"
    )
    usage = counted(
        model,
        input=read,
        output=made,
        cached=_first(
            given, "cache_read_input_tokens", "cache_read_tokens", "prompt_cache_hit_tokens"
        )
        or _first(details, "cached_tokens", "cache_read", "cache_read_tokens"),
        written=_first(given, "cache_creation_input_tokens", "cache_write_tokens")
        or _first(details, "cache_creation", "cache_write_tokens"),
        reasoning=reasoning,
        # LiteLLM adds Anthropic's names to OpenAI's figures, which include the cache.
        cache_inside=not anthropic or "prompt_tokens" in given,
        # Some servers of OpenAI's API (xAI) count reasoning beside the output: their total says so.
        reasoning_inside=given.get("total_tokens") != (read or 0) + (made or 0) + (reasoning or 0),
    )
    return None if usage is None or usage.total_tokens == 0 else usage


_ANTHROPIC = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


def _with_compactions(given: dict[str, Any]) -> dict[str, Any]:
    """The usage with what a compaction by Anthropic's API took, which its sums leave out."""
    steps = [step for step in dicts_in(given.get("iterations")) if step.get("type") == "compaction"]
    if not steps:
        return given
    sums = {name: sum(count(one.get(name)) or 0 for one in (given, *steps)) for name in _ANTHROPIC}
    return {**given, **sums}


def _details(given: dict[str, Any]) -> dict[str, Any]:
    """Counts of details: `prompt_tokens_details` of OpenAI, `input_token_details` of LangChain."""
    found: dict[str, Any] = {}
    for name in (
        "prompt_tokens_details",
        "completion_tokens_details",
        "input_tokens_details",
        "output_tokens_details",
        "input_token_details",
        "output_token_details",
        "details",
    ):
        if isinstance(given.get(name), dict):
            found |= given[name]
    return found


def _first(given: dict[str, Any], *names: str) -> int | None:
    return next((found for name in names if (found := count(given.get(name))) is not None), None)
