"""Shares out what Claude Code recorded for each model as a whole: tokens and dollars.

Session files end with `cost-state` rows, the event stream with a `result` row. Both give sums for
each model and the whole run so far; the last of them counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from trialrun.importers._builder import Draft, TraceBuilder
from trialrun.importers._usage import count, counted
from trialrun.importers._values import amount
from trialrun.model.trace import StepType, TokenUsage

NOT_LISTED = "not_listed"
"""Key in the metadata of a model call: its requests have sums only, and no rows of their own."""


class Sums(Struct):
    """What one model was used for: tokens without those of the cache, and what it cost."""

    fresh: int
    output: int
    read: int
    written: int
    cost: float | None

    def covers(self, other: Sums) -> bool:
        """Whether these sums can include the other ones."""
        return (
            self.fresh >= other.fresh
            and self.output >= other.output
            and self.read >= other.read
            and self.written >= other.written
        )

    def added(self, other: Sums) -> Sums:
        """Both together."""
        return Sums(
            self.fresh + other.fresh,
            self.output + other.output,
            self.read + other.read,
            self.written + other.written,
            (self.cost or 0) + (other.cost or 0) or None,
        )

    def plus(self, tokens: TokenUsage | None) -> Sums:
        """The sums with those of one more call."""
        if tokens is None:
            return self
        cached = tokens.cached_tokens + tokens.cache_write_tokens
        fresh = tokens.total_tokens - tokens.completion_tokens - cached
        written, read = tokens.cache_write_tokens, tokens.cached_tokens
        return self.added(Sums(fresh, tokens.completion_tokens, read, written, None))

    def tokens(self, model: str | None) -> TokenUsage | None:
        """The same as the usage of a call."""
        return counted(
            model,
            input=self.fresh,
            output=self.output,
            cached=self.read,
            written=self.written,
            cache_inside=False,
        )


_NONE = Sums(0, 0, 0, 0, None)

# What is put after the name of a model: `claude-x-20260101-v1:0` (Bedrock), `claude-x@default`.
_RELEASE = re.compile(r"(?:-2\d{7}|@\w+)?(?:-v\d+(?::\d+)?)?$")


def row_tokens(usage: dict[str, Any], model: str | None = None) -> TokenUsage | None:
    """The usage in a row, as Anthropic's API writes it."""
    return counted(
        model,
        input=usage.get("input_tokens"),
        output=usage.get("output_tokens"),
        cached=usage.get("cache_read_input_tokens"),
        written=usage.get("cache_creation_input_tokens"),
        cache_inside=False,
    )


def sums_of(model_usage: Any) -> dict[str, Sums]:
    """The sums by model: `{"claude-x": {"inputTokens": 3, "outputTokens": 1, "costUSD": 0.01}}`."""
    if not isinstance(model_usage, dict):
        return {}
    return {
        model: Sums(
            count(given.get("inputTokens")) or 0,
            count(given.get("outputTokens")) or 0,
            count(given.get("cacheReadInputTokens")) or 0,
            count(given.get("cacheCreationInputTokens")) or 0,
            amount(given.get("costUSD")) or None,  # $0 beside tokens was not recorded
        )
        for model, given in model_usage.items()
        if isinstance(given, dict)
    }


def share_out(builder: TraceBuilder, sums: dict[str, Sums], *, with_tokens: bool) -> None:
    """Give the calls of each model their share of its sums.

    `with_tokens`: the rows have only the first, partial usage of each call.
    """
    named: dict[str, str] = {}  # plain name → the name under which its sums are kept
    joined: dict[str, Sums] = {}
    for model, given in sums.items():
        model = named.setdefault(_plain_name(model), model)
        joined[model] = joined.get(model, _NONE).added(given)
    calls: dict[str, list[Draft]] = {model: [] for model in joined}
    others: dict[str, list[Draft]] = {}
    for draft in _replies(builder):
        name = _plain_name(draft.fields.get("model") or "")
        (calls[named[name]] if name in named else others.setdefault(name, [])).append(draft)
    _fit(calls, others, joined, are_partial=with_tokens)
    unknown = _NONE
    for model, given in joined.items():
        if calls[model]:
            _share(builder, calls[model], given, with_tokens)
        elif others and with_tokens:  # the sums name these calls in another way
            unknown = unknown.added(given)
        else:
            _add_unlisted(builder, model, given)
    left = [draft for own in others.values() for draft in own]
    if left and with_tokens:
        _share(builder, left, unknown, with_tokens)


def _fit(
    calls: dict[str, list[Draft]],
    others: dict[str, list[Draft]],
    sums: dict[str, Sums],
    *,
    are_partial: bool,
) -> None:
    """Give calls under another name to the sums that they can be.

    A gateway may answer under another name than the one that was asked for: counted as calls of
    another model, the same tokens would be counted twice.
    """
    for name, own in list(others.items()):
        listed = _listed(own)
        fits = [
            model
            for model, given in sums.items()
            if not calls[model] and given.covers(listed) and (are_partial or listed.covers(given))
        ]
        if fits and listed != _NONE:
            calls[max(fits, key=lambda model: sums[model].output)] = others.pop(name)


def share_whole(
    builder: TraceBuilder, usages: Iterable[Any], cost: float | None, *, is_complete: bool
) -> None:
    """Give all calls their share of the usage of a run that has no sums by model.

    `is_complete`: the usage is that of all calls, also of subagents.
    """
    whole = _NONE
    for usage in usages:
        whole = whole.plus(row_tokens(usage) if isinstance(usage, dict) else None)
    whole = whole if is_complete else _NONE
    replies = _replies(builder)
    if not replies:
        _add_unlisted(builder, None, whole.added(Sums(0, 0, 0, 0, cost)))
        return
    if whole == _NONE:
        drop_tokens(builder)
    else:
        _share_tokens(replies, whole)
    _share_cost(replies, cost)


def drop_tokens(builder: TraceBuilder) -> None:
    """Take the partial usage of the rows away, where nothing tells that of the run."""
    for draft in builder.drafts:
        draft.fields.pop("tokens", None)


def _replies(builder: TraceBuilder) -> list[Draft]:
    return [draft for draft in builder.drafts if draft.fields["type"] is StepType.LLM_CALL]


def _plain_name(model: str) -> str:
    """The name that all ways to write a model have in common.

    `claude-x-20260101` is also `claude-x[1m]` and `us.anthropic.claude-x-20260101-v1:0`.
    """
    name = model.partition("[")[0].rpartition("/")[2].rpartition("anthropic.")[2]
    return _RELEASE.sub("", name, count=1)


def _add_unlisted(builder: TraceBuilder, model: str | None, given: Sums) -> None:
    """Requests that have no rows, such as those for a title, were made and paid for as well."""
    tokens = given.tokens(model)
    known = tokens if tokens is not None and tokens.total_tokens else None
    if known is not None or given.cost is not None:
        draft = builder.reply(model=model, tokens=known, cost=given.cost, is_answer=False)
        draft.note(**{NOT_LISTED: True})


def _share(builder: TraceBuilder, own: list[Draft], given: Sums, with_tokens: bool) -> None:
    if with_tokens:
        _share_tokens(own, given)
    elif not given.covers(_listed(own)):
        builder.dropped("recorded costs that do not cover all requests")
        return
    _share_cost(own, given.cost)


def _listed(own: list[Draft]) -> Sums:
    """What the rows of these calls say."""
    listed = _NONE
    for draft in own:
        listed = listed.plus(draft.fields.get("tokens"))
    return listed


def _share_tokens(own: list[Draft], given: Sums) -> None:
    """The last call gets what the rows of all calls lack: the output, mostly."""
    listed = _listed(own)
    if not given.covers(listed):
        for draft in own:
            draft.fields.pop("tokens", None)
        listed = _NONE
    rest = Sums(
        given.fresh - listed.fresh,
        given.output - listed.output,
        given.read - listed.read,
        given.written - listed.written,
        None,
    )
    for draft in own:
        if draft.fields.get("tokens") is None:
            draft.fields["tokens"] = _NONE.tokens(draft.fields.get("model"))
    last = own[-1].fields
    last["tokens"] = rest.plus(last["tokens"]).tokens(last.get("model"))


def _share_cost(own: list[Draft], cost: float | None) -> None:
    """Shares as large as the calls: output costs five times the input, a cached token a tenth."""
    if cost is None:
        return
    shares = []
    for draft in own:
        part = _NONE.plus(draft.fields.get("tokens"))
        shares.append(part.fresh + 5 * part.output + 0.1 * part.read + 1.25 * part.written)
    whole = sum(shares)
    if not whole:
        shares, whole = [1.0] * len(own), float(len(own))
    for draft, share in zip(own, shares, strict=True):
        draft.fields["cost_usd"] = cost * share / whole
