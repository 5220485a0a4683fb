"""The tokens of one model call, and the one rule by which they are counted and priced."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from trialrun.model.reading import READER, get_ident
from trialrun.model.values import Count, as_count, refuse


class TokenUsage(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Tokens of one model call, counted as its provider counts them.

    OpenAI's prompt tokens include the cached ones, Anthropic's do not; Google counts reasoning
    beside the completion, others inside it. `split_tokens` handles all of them.
    """

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    total_tokens: Count = -1  # becomes the sum if the source gives no total
    cached_tokens: Count = 0
    cache_write_tokens: Count = 0
    reasoning_tokens: Count = 0
    cache_write_1h_tokens: Count = 0  # those of cache_write_tokens that are kept for an hour

    def __post_init__(self) -> None:
        if READER.thread == get_ident():
            return  # `step_lists.usable` checks the steps that were decoded
        for field in _COUNTS:
            value = getattr(self, field)
            if type(value) is not int or not 0 <= value <= _CERTAINLY_USABLE:
                force_setattr(self, field, as_count("TokenUsage", field, value))
        parts = self.prompt_tokens + self.completion_tokens
        total = self.total_tokens
        if total != -1:
            total = as_count("TokenUsage", "total_tokens", total)
        if total == -1 or total == 0:  # evaldeck writes 0 for "no total given"
            total = parts
        elif total < parts:
            refuse("TokenUsage", "total_tokens", f"at least its parts, {parts}", total)
        force_setattr(self, "total_tokens", total)
        if self.cache_write_1h_tokens > self.cache_write_tokens:
            force_setattr(self, "cache_write_tokens", self.cache_write_1h_tokens)
        if self.cached_tokens or self.cache_write_tokens or self.reasoning_tokens:
            force_setattr(self, "total_tokens", max(total, split_tokens(self).total))


_COUNTS = tuple(name for name in TokenUsage.__struct_fields__ if name != "total_tokens")
_CERTAINLY_USABLE = 10**12  # larger ones are compared with the limit by `as_count`


class Split(Struct, frozen=True):
    """The tokens of a call, each in exactly one group."""

    fresh: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int

    @property
    def total(self) -> int:
        """All tokens of the call."""
        return self.fresh + self.cache_read + self.cache_write + self.output + self.reasoning


def split_tokens(tokens: TokenUsage, model: str | None = None) -> Split:
    """Assign every token to one group, so that none is counted or charged twice.

    OpenAI's prompt tokens include the cached ones, Anthropic's do not. More cached tokens than
    prompt tokens, or a total that is the sum of both, shows that they are not included, whatever
    the model's name. Reasoning tokens are part of the completion unless there are more of them, or
    the total counts them beside it.
    """
    prompt, completion = tokens.prompt_tokens, tokens.completion_tokens
    cached = tokens.cached_tokens + tokens.cache_write_tokens
    reasoning = tokens.reasoning_tokens
    cached_apart = cached > prompt or is_anthropic(model)
    reasoning_apart = reasoning > completion
    # What the total has beside the two, and beside what is certainly apart.
    beside = tokens.total_tokens - prompt - completion
    beside -= (cached if cached_apart else 0) + (reasoning if reasoning_apart else 0)
    if beside > 0:
        both = cached + reasoning
        if beside == cached == reasoning and not cached_apart and not reasoning_apart:
            # The total says that one of the two is apart, not which. Google counts reasoning so.
            reasoning_apart = "gemini" in (model or "").lower()
            cached_apart = not reasoning_apart
        else:
            cached_apart, reasoning_apart = (
                cached_apart or beside in (cached, both),
                reasoning_apart or beside in (reasoning, both),
            )
    return Split(
        prompt if cached_apart else prompt - cached,
        tokens.cached_tokens,
        tokens.cache_write_tokens,
        completion if reasoning_apart else completion - reasoning,
        reasoning,
    )


def is_anthropic(model: str | None) -> bool:
    """Whether the model's name says that its prompt tokens leave the cached ones out."""
    name = (model or "").lower()
    return "claude" in name or "anthropic" in name


def counted_for(tokens: TokenUsage, model: str | None) -> TokenUsage:
    """The usage with a total that has every token of the call, as this model's provider counts."""
    total = split_tokens(tokens, model).total
    return replace(tokens, total_tokens=total) if total > tokens.total_tokens else tokens
