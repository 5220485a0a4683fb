"""The tokens of one model call, from the counts that a recording gives.

Sources differ in what their figures include: OpenAI, OpenTelemetry, OpenInference, Vercel, ATIF and
Codex count cached tokens inside the input, Anthropic, Claude Code, Inspect, OpenCode and Langfuse
beside it; Gemini and Langfuse count reasoning beside the output, the others inside it.
"""

from __future__ import annotations

from typing import Any

from trialrun.model.trace import LARGEST_COUNT, TokenUsage
from trialrun.model.usage import is_anthropic
from trialrun.model.usage_format import read_usage


def counted(
    model: str | None,
    *,
    input: Any = None,
    output: Any = None,
    cached: Any = None,
    written: Any = None,
    reasoning: Any = None,
    cache_inside: bool = True,
    reasoning_inside: bool = True,
) -> TokenUsage | None:
    """The usage, with every token counted once; None if the source gives neither input nor output.

    `written` are the tokens that were written to a cache.
    """
    if count(input) is None and count(output) is None:
        return None
    fresh, out = count(input) or 0, count(output) or 0
    read, wrote, thought = count(cached) or 0, count(written) or 0, count(reasoning) or 0
    if cache_inside and read + wrote <= fresh:
        fresh -= read + wrote
    if reasoning_inside and thought <= out:
        out -= thought
    total = fresh + read + wrote + out + thought
    if total > LARGEST_COUNT:
        return None
    # `split_tokens` reads the prompt of a Claude model without cached tokens, others with them.
    prompt = fresh if is_anthropic(model) else fresh + read + wrote
    return TokenUsage(
        prompt_tokens=prompt,
        completion_tokens=out + thought,
        total_tokens=total,
        cached_tokens=read,
        cache_write_tokens=wrote,
        reasoning_tokens=thought,
    )


def count(value: Any) -> int | None:
    """The number of tokens; None if it is not one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else None


def from_provider(given: Any, model: str | None) -> TokenUsage | None:
    """The usage as a provider's API writes it (OpenAI, Anthropic, Google and others)."""
    if not isinstance(given, dict):
        return None
    found = read_usage(given, model)
    counts = {name: count(value) for name, value in found.counts.items()}
    if found.problem is not None or None in counts.values():
        return None
    if not {"prompt_tokens", "completion_tokens", "total_tokens"} & set(counts):
        return None
    try:
        return TokenUsage(**counts)  # type: ignore[arg-type]
    except (ValueError, TypeError):  # a total below its parts
        return None
