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
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any

from msgspec import Meta, Struct

from trialrun.model.steps import NO_USAGE, lacks_usage
from trialrun.model.trace import UNUSABLE, Step, StepType, TokenUsage
from trialrun.model.usage import split_tokens

PerMillion = Annotated[float, Meta(ge=0)]

# A version that may follow a model's name without changing the price:
# "-2024-07-18", "-20241022", "@latest", "-v1:0".
_VERSION_TEXT = r"(?:[-@](?:\d{4}-\d\d-\d\d|\d\d-\d{4}|\d{3,8}|latest|preview|exp)|-v\d+(?::\d+)?)+"
_VERSION = re.compile(_VERSION_TEXT)
_VERSION_AT_END = re.compile(_VERSION_TEXT + r"\Z")
_LONGEST_NAME = 200
_REGION = re.compile(r"^(?:us|eu|apac|global|us-gov)\.")  # "eu." in "eu.anthropic.claude-…"


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
    fitting = [name for name in names if _fits(name.lower(), lowered)]
    return max(fitting, key=len, default=None)


def _fits(name: str, model: str) -> bool:
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
    if not _is_accounted_for(step.tokens, step.model):
        return None  # only a total: how much of it is output, which costs more, is unknown
    return _price(step.model, step.tokens, step.timestamp)


def _price(model: str, tokens: TokenUsage, moment: datetime | None) -> float | None:
    """The price of the tokens: the user's, else the list's, else None."""
    book = _book.get()
    rates = book.rates(model) if book is not None else None
    return _listed_cost(model, tokens, moment) if rates is None else cost_at(rates, tokens, model)


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
    price = _price(step.model, tokens, step.timestamp)
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
    split = split_tokens(tokens, model)
    read = rates.input if rates.cache_read is None else rates.cache_read
    write = rates.input if rates.cache_write is None else rates.cache_write
    hour = write if rates.cache_write_1h is None else rates.cache_write_1h
    reasoning = rates.output if rates.reasoning is None else rates.reasoning
    return (
        split.fresh * rates.input
        + split.cache_read * read
        + (split.cache_write - tokens.cache_write_1h_tokens) * write
        + tokens.cache_write_1h_tokens * hour
        + split.output * rates.output
        + split.reasoning * reasoning
    ) / 1_000_000


def _listed_cost(model: str, tokens: TokenUsage, moment: datetime | None) -> float | None:
    import genai_prices

    split = split_tokens(tokens, model)
    usage = genai_prices.Usage(
        input_tokens=split.fresh + split.cache_read + split.cache_write,
        cache_read_tokens=split.cache_read,
        cache_write_tokens=split.cache_write,
        cache_write_1h_tokens=tokens.cache_write_1h_tokens,
        output_tokens=split.output + split.reasoning,
    )
    # Prices change, some by the hour: use the call's own time; without one, the current time.
    when = moment or datetime.now(UTC)
    found = _listed_name(model)
    if found is None:
        return None
    name, provider = found
    try:
        price = genai_prices.calc_price(
            usage, name, provider_id=provider, genai_request_timestamp=when
        )
    except (LookupError, ValueError, OverflowError):
        return None
    return float(price.total_price)


@lru_cache(maxsize=1024)
def _listed_name(model: str) -> tuple[str, str | None] | None:
    """The model's (name, provider) in the list of genai-prices, or None if it has none."""
    import genai_prices

    probe: Any = genai_prices.Usage(input_tokens=1, output_tokens=1)
    for name, provider in _spellings(model):
        try:
            found = genai_prices.calc_price(probe, name, provider_id=provider).model.id.lower()
        except (LookupError, ValueError):
            continue
        # genai-prices also matches by prefix, but `gpt-4o-custom` is not `gpt-4o`.
        if _fits(found, name) or _fits(name, found):
            return name, provider
    return None


_PROVIDERS = {"vertex_ai": "google", "gemini": "google", "bedrock": "aws", "google_genai": "google"}


def _spellings(model: str) -> Iterator[tuple[str, str | None]]:
    """Names to try: as given, then with the provider split off, then without the version."""
    lowered = model.strip().lower()
    yield lowered, None
    parts = re.split(r"[/:]", lowered)
    bases: list[tuple[str, str | None]] = [(lowered, None)]
    for cut in range(1, len(parts)):
        prefix = parts[cut - 1]
        rest = lowered[sum(len(part) + 1 for part in parts[:cut]) :]
        bases += [(rest, _PROVIDERS.get(prefix, prefix)), (rest, None)]
    for name, _ in list(bases):
        without_region = _REGION.sub("", name)
        if "." in without_region:
            bases += [(without_region, "aws"), (without_region.partition(".")[2], None)]
    yield from bases[1:]
    for name, provider in bases:
        if (shorter := _VERSION_AT_END.sub("", name)) != name:
            yield shorter, provider


def source() -> str:
    """The name and version of the price list."""
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"
