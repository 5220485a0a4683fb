"""Shares out what Claude Code recorded for each model as a whole: tokens and dollars.

Session files end with `cost-state` rows, the event stream with a `result` row. Both give sums for
each model and the whole run so far; the last of them counts.
"""

from __future__ import annotations

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

    def plus(self, tokens: TokenUsage | None) -> Sums:
        """The sums with those of one more call."""
        if tokens is None:
            return self
        cached = tokens.cached_tokens + tokens.cache_write_tokens
        fresh = tokens.total_tokens - tokens.completion_tokens - cached
        return Sums(
            self.fresh + fresh,
            self.output + tokens.completion_tokens,
            self.read + tokens.cached_tokens,
            self.written + tokens.cache_write_tokens,
            self.cost,
        )

    def tokens(self, model: str) -> TokenUsage | None:
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
    replies = [draft for draft in builder.drafts if draft.fields["type"] is StepType.LLM_CALL]
    calls = _calls_by_model(replies, sums, are_partial=with_tokens)
    for model, given in sums.items():
        own = calls[model]
        if not own:
            _add_unlisted(builder, model, given)
            continue
        listed = _listed(own)
        if with_tokens:
            _share_tokens(own, model, given, listed)
        elif not given.covers(listed):
            builder.dropped("recorded costs that do not cover all requests")
            continue
        _share_cost(own, given.cost)


def _calls_by_model(
    replies: list[Draft], sums: dict[str, Sums], *, are_partial: bool
) -> dict[str, list[Draft]]:
    """The calls of each model in the sums.

    A gateway may answer under another name than the one that the sums have: counted as calls of
    another model, the same tokens would be counted twice. They belong to sums without other calls.
    """
    found: dict[str, list[Draft]] = {model: [] for model in sums}
    others: dict[str, list[Draft]] = {}
    for draft in replies:
        name = draft.fields.get("model")
        model = next((model for model in sums if _is_model(name, model)), None)
        own = others.setdefault(str(name), []) if model is None else found[model]
        own.append(draft)
    for own in others.values():
        listed = _listed(own)
        fits = [
            model
            for model, given in sums.items()
            if not found[model] and given.covers(listed) and (are_partial or listed.covers(given))
        ]
        if fits and listed != _NONE:
            found[max(fits, key=lambda model: sums[model].output)] = own
    return found


def _listed(calls: list[Draft]) -> Sums:
    """The sums of what the rows of these calls have."""
    listed = _NONE
    for draft in calls:
        listed = listed.plus(draft.fields.get("tokens"))
    return listed


def _is_model(name: Any, model: str) -> bool:
    """Whether both are the same: `claude-x-20260101` is listed as `claude-x[1m]` or `claude-x`."""
    plain = model.partition("[")[0]
    return isinstance(name, str) and (name == plain or name.startswith(f"{plain}-2"))


def _add_unlisted(builder: TraceBuilder, model: str, given: Sums) -> None:
    """Requests that have no rows, such as those for a title, were made and paid for as well."""
    tokens = given.tokens(model)
    if tokens is not None and tokens.total_tokens:
        draft = builder.reply(model=model, tokens=tokens, cost=given.cost, is_answer=False)
        draft.note(**{NOT_LISTED: True})


def _share_tokens(own: list[Draft], model: str, given: Sums, listed: Sums) -> None:
    """The last call gets what the rows of all calls lack: the output, mostly."""
    if not given.covers(listed):
        for draft in own:
            draft.fields["tokens"] = _NONE.tokens(model)
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
            draft.fields["tokens"] = _NONE.tokens(model)
    own[-1].fields["tokens"] = rest.plus(own[-1].fields["tokens"]).tokens(model)


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
