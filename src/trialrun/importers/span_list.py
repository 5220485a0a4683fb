"""Lists of exported spans: what in-memory, console and database exporters write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._source import NO_DOCUMENT
from trialrun.importers._spans.dialects import OPENINFERENCE_KINDS
from trialrun.importers._spans.otlp_json import attributes_of, is_error, listed
from trialrun.importers._spans.span import Event, Span, as_id, as_kind, as_time, decoded, flattened
from trialrun.importers.base import Importer, Record, Source

_STARTS = (
    "start_time",
    "startTime",
    "startTimeUnixNano",
    "start_time_unix_nano",
    "start_timestamp",
)
_ENDS = ("end_time", "endTime", "endTimeUnixNano", "end_time_unix_nano", "end_timestamp")
_CONTEXTS = ("context", "spanContext", "_spanContext", "span_context")


class SpanListImporter(Importer):
    """Reads spans that were exported one by one: a list, JSON lines, or objects in a row."""

    name = "span_list"
    title = (
        "lists of exported spans (OpenTelemetry's console exporter, Phoenix, Logfire and others)"
    )
    suffixes = (".json", ".jsonl", ".ndjson")
    export = "`ConsoleSpanExporter`, `InMemorySpanExporter` with `span.to_json()`, rows of a store"
    example = (
        '[{"name": "openai.chat", "startTimeUnixNano": "1783437289055986000",'
        ' "endTimeUnixNano": "1783437291095295000", "attributes": {'
        '"gen_ai.operation.name": "chat", "gen_ai.response.model": "m",'
        ' "gen_ai.input.messages": "[{\\"role\\": \\"user\\", \\"parts\\": [{\\"type\\":'
        ' \\"text\\", \\"content\\": \\"2 + 2?\\"}]}]", "gen_ai.output.messages": "[{\\"role\\":'
        ' \\"assistant\\", \\"parts\\": [{\\"type\\": \\"text\\", \\"content\\": \\"4\\"}]}]"}}]'
    )

    def recognises(self, source: Source) -> bool:
        found = _list(source.document) or source.objects[:1] or _first_of_row(source)
        return bool(found) and all(_is_span(item) for item in found[:20])

    def records(self, source: Source) -> Iterator[Record | Problem]:
        name, file = self.name, str(source)
        if source.document is not NO_DOCUMENT:
            spans = [span_of(item) for item in _list(source.document) if _is_real(item)]
            yield from _spans.read([(0, spans)], name, file)
        elif source.objects:
            last = _spans.last_places(source)
            yield from _spans.read(map(_batch, source.values()), name, file, last)
        else:
            spans = [span_of(item) for item in _row(source.text())]
            yield from _spans.read([(0, spans)], name, file)


def _batch(value: tuple[int, Any] | Problem) -> _spans.Batch | Problem:
    if isinstance(value, Problem):
        return value
    return value[0], [span_of(value[1])] if _is_real(value[1]) else []


def _list(document: Any) -> list[dict[str, Any]]:
    if isinstance(document, list):
        return [item for item in document if isinstance(item, dict)]
    if isinstance(document, dict) and _is_span(document):
        return [document]
    return listed(document, "spans") if isinstance(document, dict) else []


def _is_span(item: Any) -> bool:
    """A name, attributes, a start; no `data` or `span_data` of other formats."""
    if not isinstance(item, dict):
        return False
    named = isinstance(item.get("name", item.get("span_name")), str)
    timed = any(key in item for key in _STARTS)
    attributes = isinstance(item.get("attributes"), (dict, list)) or any(
        key.startswith("attributes.") for key in item
    )
    return (
        named and timed and attributes and "mlflow.traceRequestId" not in item.get("attributes", ())
    )


def _is_real(item: Any) -> bool:
    """Not a row that only says that a span was begun."""
    return isinstance(item, dict) and item.get("kind") != "pending_span"


def span_of(item: dict[str, Any]) -> Span:
    """One span, in any of the spellings."""
    context: dict[str, Any] = {}
    for key in _CONTEXTS:
        given = item.get(key)
        context = given if isinstance(given, dict) else context
    context = {**{k[8:]: v for k, v in item.items() if k.startswith("context.")}, **context}
    status = item.get("status")
    code = item.get("otel_status_code", item.get("status_code"))
    message = item.get("otel_status_message", item.get("status_message"))
    if isinstance(status, dict):
        code = status.get("code", status.get("status_code"))
        message = status.get("message", status.get("description"))
    elif isinstance(status, str):
        code = status
    name = item.get("name", item.get("span_name"))
    return Span(
        name=name if isinstance(name, str) else "",
        span_id=as_id(_any(item, context, "span_id", "spanId"), 16),
        trace_id=as_id(_any(item, context, "trace_id", "traceId"), 32),
        parent_id=as_id(_parent(item), 16),
        attributes=_attributes(item),
        scope=_scope(item),
        kind=as_kind(item.get("kind")),
        start=_time(item, _STARTS),
        end=_time(item, _ENDS),
        failed=is_error(code),
        message=message if isinstance(message, str) else "",
        events=[*_events(item)],
        resource=_resource(item),
    )


def _any(item: dict[str, Any], context: dict[str, Any], *keys: str) -> Any:
    for source in (item, context):
        for key in keys:
            if source.get(key):
                return source[key]
    return None


def _parent(item: dict[str, Any]) -> Any:
    for key in ("parent_span_id", "parentSpanId", "parent_id", "parentId"):
        if item.get(key):
            return item[key]
    for key in ("parentSpanContext", "parent"):
        given = item.get(key)
        if isinstance(given, dict):
            return given.get("spanId", given.get("span_id"))
    return None


def _time(item: dict[str, Any], keys: tuple[str, ...]) -> int | None:
    return next((as_time(item[key]) for key in keys if item.get(key) is not None), None)


def _attributes(item: dict[str, Any]) -> dict[str, Any]:
    given = decoded(item.get("attributes"))
    found = attributes_of(given) if isinstance(given, (dict, list)) else {}
    rows = {key[11:]: value for key, value in item.items() if key.startswith("attributes.")}
    kind = item.get("span_kind")
    if isinstance(kind, str) and kind.lower() in OPENINFERENCE_KINDS:
        rows["openinference.span.kind"] = kind  # Phoenix has the kind beside the attributes
    known = {key: value for key, value in rows.items() if value is not None}
    return flattened({**found, **known})


def _scope(item: dict[str, Any]) -> str:
    for key in ("scope", "instrumentation_scope", "instrumentationScope", "instrumentationLibrary"):
        given = item.get(key)
        if isinstance(given, dict) and isinstance(given.get("name"), str):
            return str(given["name"])
    given = item.get("otel_scope_name", item.get("scope_name"))
    return given if isinstance(given, str) else ""


def _events(item: dict[str, Any]) -> Iterator[Event]:
    for event in listed(item, "span_events", "events", "otel_events"):
        name = event.get("name", event.get("event_name"))
        attributes = attributes_of(event.get("attributes"))
        yield Event(name if isinstance(name, str) else "", attributes, event.get("body"))


def _resource(item: dict[str, Any]) -> dict[str, Any]:
    given = item.get("resource", item.get("otel_resource_attributes"))
    inner = given.get("attributes", given) if isinstance(given, dict) else None
    return attributes_of(inner)


# Objects in a row, over several lines each


def _first_of_row(source: Source) -> list[dict[str, Any]]:
    start = source.start.lstrip()
    if source.document is not NO_DOCUMENT or not start.startswith(b"{"):
        return []
    try:
        found = next(_row(start.decode(errors="replace")), None)
    except ValueError:
        return []
    return [found] if found is not None else []


def _row(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    place, end = 0, len(text)
    while place < end:
        while place < end and text[place] in " \r\n\t,":
            place += 1
        if place == end:
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return  # cut off
        if isinstance(value, dict):
            yield value
