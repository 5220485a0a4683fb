"""Traces that Jaeger's user interface and API export as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._spans.otlp_json import listed
from trialrun.importers._spans.span import Event, Span, as_id
from trialrun.importers.base import Importer, Record, Source


class JaegerImporter(Importer):
    """Reads the envelope of Jaeger: tags, references, microseconds."""

    name = "jaeger"
    title = "Jaeger's JSON: downloads of its user interface, `/api/traces`"
    suffixes = (".json",)
    export = "Jaeger UI, *Trace JSON*; or `curl HOST:16686/api/traces/ID`"
    example = (
        '{"data": [{"traceID": "3e28", "spans": [{"traceID": "3e28", "spanID": "e459",'
        ' "operationName": "openai.chat", "references": [], "startTime": 1771237536943421,'
        ' "duration": 1799329, "processID": "p1", "tags": ['
        '{"key": "llm.request.type", "type": "string", "value": "chat"},'
        '{"key": "gen_ai.request.model", "type": "string", "value": "m"},'
        '{"key": "gen_ai.prompt.0.role", "type": "string", "value": "user"},'
        '{"key": "gen_ai.prompt.0.content", "type": "string", "value": "2 + 2?"},'
        '{"key": "gen_ai.completion.0.role", "type": "string", "value": "assistant"},'
        '{"key": "gen_ai.completion.0.content", "type": "string", "value": "4"}]}],'
        ' "processes": {"p1": {"serviceName": "s", "tags": []}}}]}'
    )

    def recognises(self, source: Source) -> bool:
        return any(_is_trace(item) for item in _traces(source.document))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        spans = [span for trace in _traces(source.document) for span in _spans_of(trace)]
        yield from _spans.read([(0, spans)], self.name, str(source))


def _traces(document: Any) -> list[dict[str, Any]]:
    if isinstance(document, dict) and _is_trace(document):
        return [document]
    found = document if isinstance(document, list) else listed(document, "data")
    return [item for item in found if isinstance(item, dict)]


def _is_trace(item: dict[str, Any]) -> bool:
    spans = listed(item, "spans")
    return bool(spans) and "operationName" in spans[0] and "spanID" in spans[0]


def _spans_of(trace: dict[str, Any]) -> Iterator[Span]:
    given = trace.get("processes")
    processes = given if isinstance(given, dict) else {}
    for item in listed(trace, "spans"):
        tags = _tags(item.get("tags"))
        process = processes.get(str(item.get("processID")))
        name = item.get("operationName")
        start, duration = item.get("startTime"), item.get("duration")
        begin = start * 1000 if type(start) is int and 0 < start < 10**17 else None
        lasted = duration * 1000 if type(duration) is int and 0 <= duration < 10**17 else None
        scope, message = tags.get("otel.scope.name"), tags.get("otel.status_description")
        yield Span(
            name=name if isinstance(name, str) else "",
            span_id=as_id(item.get("spanID"), 16),
            trace_id=as_id(item.get("traceID", trace.get("traceID")), 32),
            parent_id=as_id(_parent(item), 16),
            attributes=tags,
            scope=scope if isinstance(scope, str) else "",
            kind=str(tags.get("span.kind", "")),
            start=begin,
            end=begin + lasted if begin is not None and lasted is not None else None,
            failed=tags.get("error") is True or tags.get("otel.status_code") == "ERROR",
            message=message if isinstance(message, str) else "",
            events=[_event(log) for log in listed(item, "logs")],
            resource=_tags(process.get("tags")) if isinstance(process, dict) else {},
        )


def _parent(item: dict[str, Any]) -> Any:
    for reference in listed(item, "references"):
        if reference.get("refType") in ("CHILD_OF", "FOLLOWS_FROM"):
            return reference.get("spanID")
    return item.get("parentSpanID")


def _tags(items: Any) -> dict[str, Any]:
    found = {}
    for item in listed({"tags": items}, "tags"):
        if isinstance(item.get("key"), str):
            found[item["key"]] = item.get("value")
    return found


def _event(log: dict[str, Any]) -> Event:
    fields = _tags(log.get("fields"))
    name = fields.get("event", fields.get("message"))
    return Event(name if isinstance(name, str) else "", fields)
