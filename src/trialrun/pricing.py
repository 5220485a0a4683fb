"""Converts tokens to dollars, or to None: an unknown price is never $0.

The user's prices come first, then the list of `genai-prices` (imported only when a call has no
recorded cost). Both are searched by the model's full name: `gpt-4o-mini-2024-07-18` may be priced
as `gpt-4o-mini`, because only a version follows that name, but never as `gpt-4o`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from trialrun.model.steps import NO_USAGE, lacks_usage
from trialrun.model.trace import UNUSABLE, Step, StepType, TokenUsage
from trialrun.model.usage import Split, split_tokens

PerMillion = Annotated[float, Meta(ge=0)]

# A version that may follow a model's name without changing the price:
# "-2024-07-18", "-20241022", "@latest", "-v1:0".
_VERSION_TEXT = r"(?:[-@](?:\d{4}-\d\d-\d\d|\d\d-\d{4}|\d{3,8}|latest|preview|exp)|-v\d+(?::\d+)?)+"
_VERSION = re.compile(_VERSION_TEXT)
VERSION_AT_END = re.compile(_VERSION_TEXT + r"\Z")
_LONGEST_NAME = 200
REGION = re.compile(r"^(?:us|eu|apac|global|us-gov)\.")  # "eu." in "eu.anthropic.claude-…"


class Rates(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Dollars per million tokens. Cache rates default to `input`, `reasoning` to `output`.

    `cache_write_1h`, for writes that are kept for an hour, defaults to `cache_write`.
    """

    input: PerMillion
    output: PerMillion
    cache_read: PerMillion | None = None
    cache_write: PerMillion | None = None
    cache_write_1h: PerMillion | None = None
    reasoning: PerMillion | None = None


class PriceBook(Struct, frozen=True):
    """The user's prices, by model."""

    models: dict[str, Rates]

    def rates(self, model: str) -> Rates | None:
        """The rates of the longest name that matches the model, or None."""
        name = longest_fit(model, self.models)
        return None if name is None else self.models[name]


_book: ContextVar[PriceBook | None] = ContextVar("trialrun_price_book", default=None)


@contextmanager
def using(book: PriceBook | None) -> Iterator[None]:
    """Within this block, these prices take precedence over the list."""
    token = _book.set(book)
    try:
        yield
    finally:
        _book.reset(token)


def active_book() -> PriceBook | None:
    """The user's prices that are in force now."""
    return _book.get()


def longest_fit(model: str, names: Iterable[str]) -> str | None:
    """The longest name that matches this model: the whole of it, or all but a version."""
    lowered = model.lower()
    fitting = [name for name in names if fits(name.lower(), lowered)]
    return max(fitting, key=len, default=None)


def fits(name: str, model: str) -> bool:
    """Whether the name is that of the model, or all of it but a version at its end."""
    start = model.find(name)
    while start >= 0:
        rest = model[start + len(name) :]
        begins = start == 0 or model[start - 1] in "/.:"
        if begins and (not rest or _VERSION.fullmatch(rest)):
            return True
        start = model.find(name, start + 1)
    return False


def step_cost(step: Step) -> float | None:
    """The cost of one model call: as recorded, else computed from its tokens, else None."""
    if step.cost_usd is not None:
        return None if _was_not_recorded(step) else step.cost_usd
    if step.tokens is None or not step.model or len(step.model) > _LONGEST_NAME:
        return None
    if _had_unusable_cost(step):
        return None  # a cost was recorded but could not be used: an estimate may differ from it
    split = split_tokens(step.tokens, step.model)
    if step.tokens.total_tokens > split.total:
        return None  # only a total: how much of it is output, which costs more, is unknown
    return _price(step.model, split, step.tokens.cache_write_1h_tokens, step.timestamp)


def _price(model: str, split: Split, hour: int, moment: datetime | None) -> float | None:
    """The price of the tokens: the user's, else the list's, else None.

    `hour`: how many of the cache writes are kept for an hour.
    """
    book = _book.get()
    rates = book.rates(model) if book is not None else None
    if rates is not None:
        return cost_of(rates, split, hour)
    from trialrun import price_list  # most runs have their costs recorded

    return price_list.cost(model, split, hour, moment)


_SOME_TOKENS = TokenUsage(1000, 1000)


def _was_not_recorded(step: Step) -> bool:
    """Whether a cost of 0 means "not recorded": the model did work that has a price."""
    if step.cost_usd != 0 or not step.model or len(step.model) > _LONGEST_NAME:
        return False
    tokens = step.tokens
    if not step.output and (tokens is None or not tokens.total_tokens):
        return False
    if tokens is None or not split_tokens(tokens, step.model).total:
        tokens = _SOME_TOKENS
    split = split_tokens(tokens, step.model)
    price = _price(step.model, split, tokens.cache_write_1h_tokens, step.timestamp)
    return price is not None and price > 0


def _is_accounted_for(tokens: TokenUsage, model: str) -> bool:
    """Whether the groups of a usage add up to its total."""
    return tokens.total_tokens <= split_tokens(tokens, model).total


def _had_unusable_cost(step: Step) -> bool:
    left_out = step.metadata.get(UNUSABLE)
    return isinstance(left_out, dict) and "cost_usd" in left_out


def total_cost(steps: Sequence[Step]) -> float | None:
    """The total cost of the steps; None as soon as one is unknown.

    Every model call has a cost; any other step has one only if it was recorded.
    """
    if lacks_usage(steps) and any(_needs_tokens(step) for step in steps):
        return None
    costs = [step_cost(step) for step in steps if _may_cost(step)]
    return None if None in costs else math.fsum(costs)  # type: ignore[arg-type]


def _needs_tokens(step: Step) -> bool:
    return step.type is StepType.LLM_CALL and step.cost_usd is None


def _may_cost(step: Step) -> bool:
    is_call = step.type is StepType.LLM_CALL
    return is_call or step.cost_usd is not None or _had_unusable_cost(step)


def unpriced(steps: Sequence[Step]) -> list[str]:
    """Why the total is unknown: a reason for each model with calls of unknown cost."""
    reasons: dict[str, None] = {}
    if lacks_usage(steps) and any(_needs_tokens(step) for step in steps):
        reasons[NO_USAGE] = None
    for step in steps:
        if _may_cost(step) and step_cost(step) is None:
            if _had_unusable_cost(step):
                name = step.model or step.tool_name or "a step"
                reasons[f"the recorded cost of a call of {name} could not be used"] = None
            elif step.cost_usd is not None:
                reasons[
                    f"a call of {step.model} has a recorded cost of $0 and its model a price: the "
                    "cost was not recorded (`prices:` may say that the model is free)"
                ] = None
            elif step.model in (None, "", "unknown"):
                reasons["a model call has neither a recorded cost nor the name of its model"] = None
            elif step.tokens is None:
                reasons[f"a call of {step.model} has neither a recorded cost nor tokens"] = None
            elif not _is_accounted_for(step.tokens, step.model):
                reasons[f"the total of a call of {step.model} is more than its kinds of tokens"] = (
                    None
                )
            else:
                name = step.model[:_LONGEST_NAME]
                reasons[f"no known price for the model {name} (`prices:` may give one)"] = None
    return list(reasons)


def cost_at(rates: Rates, tokens: TokenUsage, model: str) -> float:
    """The cost of the tokens at these rates."""
    return cost_of(rates, split_tokens(tokens, model), tokens.cache_write_1h_tokens)


def cost_of(rates: Rates, split: Split, hour_writes: int) -> float:
    """The same for tokens in groups; `hour_writes` of the cache writes are kept for an hour."""
    read = rates.input if rates.cache_read is None else rates.cache_read
    write = rates.input if rates.cache_write is None else rates.cache_write
    hour = write if rates.cache_write_1h is None else rates.cache_write_1h
    reasoning = rates.output if rates.reasoning is None else rates.reasoning
    return (
        split.fresh * rates.input
        + split.cache_read * read
        + (split.cache_write - hour_writes) * write
        + hour_writes * hour
        + split.output * rates.output
        + split.reasoning * reasoning
    ) / 1_000_000


def source() -> str:
    """The name and version of the price list."""
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"
