"""Looks prices up in the list of `genai-prices`: rates once per model, price window and tier."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import genai_prices
from genai_prices.data_snapshot import DataSnapshot, get_snapshot
from genai_prices.types import ModelPrice, TieredPrices
from msgspec import Struct

from trialrun.model.usage import Split
from trialrun.pricing import REGION, VERSION_AT_END, Rates, cost_of, fits

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

_MOST_MODELS = 1024
_MILLION = 1_000_000


class _Listed(Struct):
    """What was looked up in one state of the list, which may be updated at any time."""

    snapshot: DataSnapshot
    models: dict[str, ModelInfo | None] = {}
    # By the identity of a price, which has no hash; `prices` keeps them alive.
    starts: dict[int, list[int]] = {}
    rates: dict[tuple[int, int], Rates | None] = {}
    prices: list[ModelPrice] = []


_listed: _Listed | None = None


def _known() -> _Listed:
    global _listed
    snapshot = get_snapshot()
    if _listed is None or _listed.snapshot is not snapshot:
        _listed = _Listed(snapshot)
    return _listed


def cost(model: str, split: Split, hour: int, moment: datetime | None) -> float | None:
    """The cost of the tokens by the list; None if the model has no price.

    Prices change, some by the hour: `moment` is the call's own time, by default the current one.
    """
    known = _known()
    if model not in known.models:
        if len(known.models) >= _MOST_MODELS:
            known.models.clear()
        known.models[model] = find(model)
    info = known.models[model]
    if info is None:
        return None
    prices = info.prices
    if not isinstance(prices, ModelPrice):
        try:
            prices = info.get_prices(moment or datetime.now(UTC))
        except OverflowError:  # a time of the year 1, in another time zone
            return None
    return cost_at_prices(prices, split, hour)


def cost_at_prices(prices: ModelPrice, split: Split, hour: int) -> float | None:
    """The cost of the tokens at the prices of one model in one window."""
    known = _known()
    starts = known.starts.get(id(prices))
    if starts is None:
        starts = known.starts[id(prices)] = _tier_starts(prices)
        known.prices.append(prices)
    tier = bisect_left(starts, split.fresh + split.cache_read + split.cache_write)
    key = id(prices), tier
    if key not in known.rates:
        known.rates[key] = _rates(prices, starts, tier)
    rates = known.rates[key]
    try:
        return float(_asked(prices, split, hour)) if rates is None else cost_of(rates, split, hour)
    except (LookupError, ValueError, OverflowError):
        return None


def _tier_starts(prices: ModelPrice) -> list[int]:
    """The numbers of input tokens above which other rates apply, in ascending order."""
    tiered = [price for price in vars(prices).values() if isinstance(price, TieredPrices)]
    return sorted({tier.start for price in tiered for tier in price.tiers})


def _rates(prices: ModelPrice, starts: Sequence[int], tier: int) -> Rates | None:
    """The rates of one tier, by what the library asks for a number of input tokens in it.

    None if tokens are not all that costs, as where each request has a price.
    """
    tokens = starts[tier - 1] + 1 if tier else min(_MILLION, *starts, _MILLION)
    try:
        if _asked(prices, Split(0, 0, 0, 0, 0), 0):
            return None
        fresh = _asked(prices, Split(tokens, 0, 0, 0, 0), 0)
        output = _asked(prices, Split(tokens, 0, 0, tokens, 0), 0) - fresh
        cached = _asked(prices, Split(0, tokens, 0, 0, 0), 0)
        written = _asked(prices, Split(0, 0, tokens, 0, 0), 0)
        hour = _asked(prices, Split(0, 0, tokens, 0, 0), tokens)
    except (LookupError, ValueError, OverflowError, ZeroDivisionError):
        return None
    scale = Fraction(_MILLION, tokens)
    return Rates(
        input=float(fresh * scale),
        output=float(output * scale),
        cache_read=float(cached * scale),
        cache_write=float(written * scale),
        cache_write_1h=float(hour * scale),
    )


def _asked(prices: ModelPrice, split: Split, hour: int) -> Fraction:
    """The price of the tokens as the library computes it."""
    usage = genai_prices.Usage(
        input_tokens=split.fresh + split.cache_read + split.cache_write,
        cache_read_tokens=split.cache_read,
        cache_write_tokens=split.cache_write,
        cache_write_1h_tokens=hour,
        output_tokens=split.output + split.reasoning,
    )
    return Fraction(prices.calc_price(usage)["total_price"])


# A minor version of 0 is the version itself: `claude-sonnet-4-0` is `claude-sonnet-4-20250514`.
_MINOR_0 = re.compile(r"[-.]0\Z")


def find(model: str) -> ModelInfo | None:
    """The model in the list, or None."""
    probe: Any = genai_prices.Usage(input_tokens=1, output_tokens=1)
    for name, provider in _spellings(model):
        try:
            info = genai_prices.calc_price(probe, name, provider_id=provider).model
        except (LookupError, ValueError):
            continue
        # genai-prices also matches by prefix, but `gpt-4o-custom` is not `gpt-4o`.
        found = info.id.lower()
        if fits(found, name) or fits(name, found) or fits(_MINOR_0.sub("", found), name):
            return info
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
        without_region = REGION.sub("", name)
        if "." in without_region:
            bases += [(without_region, "aws"), (without_region.partition(".")[2], None)]
    yield from bases[1:]
    for name, provider in bases:
        if (shorter := VERSION_AT_END.sub("", name)) != name:
            yield shorter, provider
