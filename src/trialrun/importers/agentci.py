"""Read traces, golden traces and baselines of AgentCI: spans with their model and tool calls.

A baseline has the question beside the trace; a trace alone has it only if a span does. Sums on
spans and on the trace repeat what the calls say, and are not added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._usage import counted
from trialrun.importers._values import dicts_in, moment, name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE, REASONING


class AgentciImporter(Importer):
    """Reads one trace."""

    name = "agentci"
    title = "traces and baselines of AgentCI"
    suffixes = (".json",)
    export = "`baselines/AGENT/*.json`, `golden/*.golden.json`"
    carries = EVIDENCE - {REASONING}
    example = (
        '{"version": "v1", "agent": "sum", "query": "2 + 2?", "trace": {"trace_id": "t", "spans": '
        '[{"span_id": "s", "kind": "agent", "name": "sum", "output_data": "4", "tool_calls": '
        '[{"tool_name": "add", "arguments": {"a": 2}, "result": 4}], "llm_calls": '
        '[{"model": "m", "output_text": "4", "tokens_in": 3, "tokens_out": 1}]}]}}'
    )

    def recognises(self, source: Source) -> bool:
        return _trace_in(source.document) is not None

    def records(self, source: Source) -> Iterator[Record | Problem]:
        document = source.document
        run = _trace_in(document) or {}
        builder = TraceBuilder(self.name)
        spans = [span for span in run["spans"] if isinstance(span, dict)]
        asked = document.get("query") or next(filter(None, map(_asked, spans)), None)
        builder.prompt(asked if isinstance(asked, str) else "")
        for span in spans:
            _span(builder, span)
        builder.fields |= {
            "id": name_of(run.get("trace_id")),
            "agent_name": name_of(document.get("agent")) or name_of(run.get("agent_name")),
            "framework": name_of(run.get("framework")),
            "started_at": moment(run.get("created_at")),
        }
        yield builder.trace(self.carries, name=name_of(run.get("test_name"))), []


def _trace_in(document: Any) -> dict[str, Any] | None:
    """The trace in the document, or in a baseline."""
    if not isinstance(document, dict):
        return None
    run = document.get("trace") if "query" in document else document
    if not isinstance(run, dict) or "trace_id" not in run:
        return None
    spans = run.get("spans")
    if not isinstance(spans, list) or not spans:
        return None
    has_calls = (
        isinstance(span, dict) and {"kind", "tool_calls", "llm_calls"} <= span.keys()
        for span in spans
    )
    return run if all(has_calls) else None


def _asked(span: dict[str, Any]) -> str | None:
    is_agent = span.get("kind") == "agent"
    return name_of(span.get("input_data")) if is_agent else None


def _span(builder: TraceBuilder, span: dict[str, Any]) -> None:
    agent = name_of(span.get("name"))
    calls = []
    for key in ("llm_calls", "tool_calls"):
        calls += [(key, one) for one in dicts_in(span.get(key))]
    times = [moment(one.get("timestamp")) for _, one in calls]
    if None not in times:
        ordered = sorted(zip(times, range(len(calls)), calls, strict=True))
        calls = [call for _, _, call in ordered]
    for key, one in calls:
        (_reply if key == "llm_calls" else _call)(builder, one, agent)
    to = name_of(span.get("to_agent"))
    if to is not None:
        builder.handoff(to)
    if span.get("kind") == "agent" and span.get("output_data") is not None:
        builder.say(span["output_data"])


def _reply(builder: TraceBuilder, call: dict[str, Any], agent: str | None) -> None:
    model = name_of(call.get("model"))
    tokens = counted(model, input=call.get("tokens_in"), output=call.get("tokens_out"))
    builder.reply(
        name_of(call.get("output_text")),
        model=model,
        at=call.get("timestamp"),
        tokens=tokens,
        cost=call.get("cost_usd") or None,
        ms=call.get("duration_ms"),
        agent=agent,
    )


def _call(builder: TraceBuilder, call: dict[str, Any], agent: str | None) -> None:
    name, at = name_of(call.get("tool_name")) or "", call.get("timestamp")
    made = builder.call(name, call.get("arguments"), at=at, agent=agent)
    error = name_of(call.get("error"))
    if call.get("result") is not None or error is not None:
        builder.result(made, call.get("result"), error=error, ms=call.get("duration_ms"))
