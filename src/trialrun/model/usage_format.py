"""Reads the usage of a model call as providers write it, into the fields of `TokenUsage`.

OpenAI (chat and responses), Anthropic, Google, Bedrock, DeepSeek, LangChain, Pydantic AI and the
Vercel AI SDK use other names for the same counts, some of them nested. What is not read is
reported: a count that is dropped in silence makes a call too cheap.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct

from trialrun.model.usage import TokenUsage, is_anthropic


class Way(Enum):
    """How a source counts: what its names for cached and reasoning tokens say about that."""

    CACHE_INSIDE = "cached tokens are part of the prompt"
    CACHE_APART = "cached tokens are counted beside the prompt"
    REASONING_APART = "reasoning tokens are counted beside the completion"


_OWN = {name: name for name in TokenUsage.__struct_fields__}
_PROMPT, _COMPLETION, _TOTAL, _CACHED, _WRITTEN, _REASONING, _WRITTEN_1H = _OWN

# Every known name, nested ones with a dot: the field that it means.
_FIELDS: dict[str, str] = {
    **_OWN,
    **dict.fromkeys(("input_tokens", "inputTokens", "promptTokens"), _PROMPT),
    **dict.fromkeys(("promptTokenCount", "prompt_token_count"), _PROMPT),
    **dict.fromkeys(("output_tokens", "outputTokens", "completionTokens"), _COMPLETION),
    **dict.fromkeys(("candidatesTokenCount", "candidates_token_count"), _COMPLETION),
    **dict.fromkeys(("responseTokenCount", "response_token_count"), _COMPLETION),
    **dict.fromkeys(("totalTokens", "totalTokenCount", "total_token_count"), _TOTAL),
}

# Names of cached and reasoning tokens: the field, and what the name says about the source.
_INSIDE = {
    "prompt_tokens_details.cached_tokens": _CACHED,
    "input_tokens_details.cached_tokens": _CACHED,
    "prompt_tokens_details.cache_write_tokens": _WRITTEN,
    "input_tokens_details.cache_write_tokens": _WRITTEN,
    "prompt_cache_hit_tokens": _CACHED,
    "input_token_details.cache_read": _CACHED,
    "input_token_details.cache_creation": _WRITTEN,
    "cache_read_tokens": _CACHED,
    "cachedInputTokens": _CACHED,
    "cachedContentTokenCount": _CACHED,
    "cached_content_token_count": _CACHED,
}
_APART = {
    "cache_read_input_tokens": _CACHED,
    "cache_creation_input_tokens": _WRITTEN,
    "cacheReadInputTokens": _CACHED,
    "cacheWriteInputTokens": _WRITTEN,
}
_THOUGHTS = {"thoughtsTokenCount": _REASONING, "thoughts_token_count": _REASONING}
_FIELDS |= _INSIDE | _APART | _THOUGHTS
_FIELDS |= dict.fromkeys(
    (
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
        "output_token_details.reasoning",
        "details.reasoning_tokens",
        "reasoningTokens",
    ),
    _REASONING,
)
_WAYS = {
    **dict.fromkeys(_INSIDE, Way.CACHE_INSIDE),
    **dict.fromkeys(_APART, Way.CACHE_APART),
    **dict.fromkeys(_THOUGHTS, Way.REASONING_APART),
}

# Added to a field: prompts of Google's own tools, and the two kinds of Anthropic's cache writes.
_TOOL_PROMPT = ("toolUsePromptTokenCount", "tool_use_prompt_token_count")
_FIVE_MINUTES = "cache_creation.ephemeral_5m_input_tokens"
_ONE_HOUR = "cache_creation.ephemeral_1h_input_tokens"
_SUMMANDS = (*_TOOL_PROMPT, _FIVE_MINUTES, _ONE_HOUR)

# Details of counts that are read already: they change neither a total nor a price.
_DETAILS = frozenset(
    {"text_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens"}
    | {"prompt_cache_miss_tokens", "inference_geo", "trafficType", "traffic_type"}
)
# What says nothing as long as it is 0: sound and images have prices of their own, searches too.
_NOTHING_IF_ZERO = frozenset(
    {"audio_tokens", "image_tokens", "video_tokens", "audio", "image", "video", "service_tier"}
    | {"web_search_requests", "web_fetch_requests", "num_sources_used", "server_tool_use"}
    | {
        "cached_audio_tokens",
        "input_audio_tokens",
        "output_audio_tokens",
        "cache_audio_read_tokens",
    }
)
_ORDINARY = (0, False, "standard", "default", "on_demand", "auto")


class FoundUsage(Struct):
    """What was read: counts by field, what was left, and the names among it to report."""

    counts: dict[str, Any]
    left: dict[str, Any]
    unknown: list[str]
    problem: str | None = None  # why the counts cannot be used


def read_usage(given: dict[str, Any], model: str | None) -> FoundUsage:
    """The counts of a usage, in the way that `split_tokens` expects for this model."""
    if given.keys() <= _OWN.keys():  # the common case
        return FoundUsage({key: value for key, value in given.items() if value is not None}, {}, [])
    found = FoundUsage({}, {}, [])
    ways: set[Way] = set()
    added: dict[str, Any] = {}
    for name, value in _flat(given):
        field = _FIELDS.get(name)
        if name in _SUMMANDS:
            added[name] = value
        elif field is None:
            found.left[name] = value
            if not _says_nothing(name, value):
                found.unknown.append(name)
        elif found.counts.setdefault(field, value) != value:
            found.problem = f"`{name}` is {value!r:.40}, another name for it says otherwise"
        elif value and name in _WAYS:
            ways.add(_WAYS[name])
    found.counts |= {name: value for name, value in added.items() if not _is_whole(value)}
    if found.problem is None and all(map(_is_whole, found.counts.values())):
        if _counts_as_openai(given, found.counts):
            ways = (ways - {Way.CACHE_APART}) | {Way.CACHE_INSIDE}
        _add(found, added, ways)
        _settle(found.counts, ways, model)
    return found


def _counts_as_openai(given: dict[str, Any], counts: dict[str, Any]) -> bool:
    """Whether a gateway wrote the usage of another provider in OpenAI's way.

    LiteLLM keeps Anthropic's counts of cached tokens beside a prompt that includes them.
    """
    prompt, completion = counts.get(_PROMPT), counts.get(_COMPLETION, 0)
    cached = counts.get(_CACHED, 0) + counts.get(_WRITTEN, 0)
    if _PROMPT not in given or prompt is None or not 0 < cached <= prompt:
        return False
    return bool(counts.get(_TOTAL) == prompt + completion)


def _flat(given: dict[str, Any]) -> list[tuple[str, Any]]:
    """The values with their names, those of nested objects as `outer.inner`; None is left out."""
    flat = []
    for name, value in given.items():
        if isinstance(value, dict):
            flat += [(f"{name}.{inner}", item) for inner, item in value.items()]
        else:
            flat.append((str(name), value))
    return [(name, value) for name, value in flat if value is not None]


def _says_nothing(name: str, value: Any) -> bool:
    last = name.rpartition(".")[2]
    if last in _DETAILS:
        return True
    if last in _NOTHING_IF_ZERO:
        return isinstance(value, (int, float, str)) and value in _ORDINARY
    # Google's lists of counts by modality, such as [{"modality": "TEXT", "tokenCount": 10}].
    return isinstance(value, list) and all(
        isinstance(item, dict) and item.get("modality") in ("TEXT", "text") for item in value
    )


def _is_whole(value: Any) -> bool:
    return (type(value) is int or (type(value) is float and value.is_integer())) and value >= 0


def _add(found: FoundUsage, added: dict[str, Any], ways: set[Way]) -> None:
    """Add the counts that are parts of a field."""
    counts = found.counts
    for name in _TOOL_PROMPT:
        if added.get(name):
            counts[_PROMPT] = counts.get(_PROMPT, 0) + added[name]
    written = added.get(_FIVE_MINUTES, 0) + added.get(_ONE_HOUR, 0)
    if written:
        if counts.setdefault(_WRITTEN, written) != written:
            found.problem = f"`cache_creation` adds up to {written}, not to {counts[_WRITTEN]}"
        counts[_WRITTEN_1H] = added.get(_ONE_HOUR, 0)
        ways.add(Way.CACHE_APART)


def _settle(counts: dict[str, Any], ways: set[Way], model: str | None) -> None:
    """Give the counts a total that shows what is counted apart.

    A gateway may report a Claude model as OpenAI does, cached tokens inside the prompt; by the
    model's name they would count beside it.
    """
    prompt, completion = counts.get(_PROMPT), counts.get(_COMPLETION, 0)
    if prompt is None or (_COMPLETION not in counts and _TOTAL not in counts):
        return
    cached = counts.get(_CACHED, 0) + counts.get(_WRITTEN, 0)
    least = prompt + completion
    if Way.CACHE_INSIDE in ways:
        if is_anthropic(model) and cached <= prompt:
            counts[_PROMPT] = prompt - cached
    elif Way.CACHE_APART in ways:
        least += cached
    if Way.REASONING_APART in ways:
        least += counts.get(_REASONING, 0)
    if ways:
        counts[_TOTAL] = max(counts.get(_TOTAL, 0), least)
