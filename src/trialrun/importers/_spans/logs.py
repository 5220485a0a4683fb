"""Joins log records to spans: by the id of the span, else by the ids that both carry."""

from __future__ import annotations

from collections.abc import Iterable

from trialrun.importers._spans.otlp_json import Log
from trialrun.importers._spans.span import Span

_KEYS = ("request_id", "tool_use_id")
_TAKEN = ("cost_usd", "tool_input", "success", "error", "response")
_PROMPTS = ("user_prompt", "claude_code.user_prompt")


def join(spans: Iterable[Span], logs: list[Log]) -> int:
    """Give the spans what the log records say; returns how many records belong to no span."""
    if not logs:
        return 0
    by_id: dict[str, Span] = {}
    by_key: dict[tuple[str, str], Span] = {}
    roots: dict[str, Span] = {}
    for span in spans:
        by_id[span.span_id] = span
        for key in _KEYS:
            value = span.attributes.get(key)
            if isinstance(value, str) and (
                (key, value) not in by_key or "tool_name" in span.attributes
            ):
                by_key[key, value] = span  # the call itself, not its execution inside
        session = span.attributes.get("session.id")
        if not span.parent_id and isinstance(session, str):
            roots.setdefault(session, span)
    return sum(not _join_one(log, by_id, by_key, roots) for log in logs)


def _join_one(
    log: Log,
    by_id: dict[str, Span],
    by_key: dict[tuple[str, str], Span],
    roots: dict[str, Span],
) -> bool:
    for key in _KEYS:
        value = log.attributes.get(key)
        span = by_key.get((key, value)) if isinstance(value, str) else None
        if span is not None:
            taken = {name: log.attributes[name] for name in _TAKEN if name in log.attributes}
            span.attributes = {**taken, **span.attributes}
            return True
    span = by_id.get(log.span_id)
    if span is None and log.name in _PROMPTS:
        span = roots.get(log.session)
    if span is None:
        return False
    if log.name in _PROMPTS and "prompt" in log.attributes:
        span.attributes = {"user_prompt": log.attributes["prompt"], **span.attributes}
    span.events = [*span.events, log]
    return True
