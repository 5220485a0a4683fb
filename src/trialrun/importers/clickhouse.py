"""ClickHouse: rows of the table `otel_traces`, into which OpenTelemetry's collector writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._source import NO_DOCUMENT
from trialrun.importers._spans.node import number
from trialrun.importers._spans.otlp_json import is_error
from trialrun.importers._spans.span import Event, Span, as_id, as_kind, as_time, flattened
from trialrun.importers.base import Importer, Record, Source

_COLUMNS = frozenset({"TraceId", "SpanId", "ParentSpanId", "SpanName", "SpanAttributes"})

# "2026-07-18 10:00:00.123456789": the part of a second has more digits than a datetime keeps.
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z?\Z")


class ClickhouseImporter(Importer):
    """Reads spans, one a row; those of one `TraceId` are one run."""

    name = "clickhouse"
    title = "ClickHouse: rows of `otel_traces` (`FORMAT JSONEachRow`, `FORMAT Parquet`)"
    suffixes = (".json", ".jsonl", ".ndjson", ".parquet")
    export = "`SELECT * FROM otel_traces WHERE … ORDER BY TraceId FORMAT JSONEachRow`"
    example = (
        '{"Timestamp": "2026-07-18 10:00:00.123456789", "TraceId":'
        ' "5b8efff798038103d269b633813fc60c", "SpanId": "eee19b7ec3c1b174", "ParentSpanId": "",'
        ' "SpanName": "chat m", "SpanKind": "Client", "ServiceName": "shop", "Duration": 630000000,'
        ' "StatusCode": "Ok", "SpanAttributes": {"gen_ai.operation.name": "chat",'
        ' "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": "9",'
        ' "gen_ai.input.messages": "[{\\"role\\": \\"user\\", \\"parts\\": [{\\"type\\":'
        ' \\"text\\", \\"content\\": \\"2 + 2?\\"}]}]", "gen_ai.output.messages": "[{\\"role\\":'
        ' \\"assistant\\", \\"parts\\": [{\\"type\\": \\"text\\", \\"content\\": \\"4\\"}]}]"}}'
    )

    def recognises(self, source: Source) -> bool:
        found = source.objects[:1] or _rows(source.document)[:1]
        return bool(found) and is_row(found[0])

    def records(self, source: Source) -> Iterator[Record | Problem]:
        file = str(source)
        if source.document is not NO_DOCUMENT:
            spans = [span_of_row(row) for row in _rows(source.document)]
            yield from _spans.read([(0, spans)], self.name, file, windowed=True)
        else:
            last = _spans.last_places(source)
            batches = map(_batch, source.values())
            yield from _spans.read(batches, self.name, file, last, windowed=True)


def _rows(document: Any) -> list[dict[str, Any]]:
    """The rows of a list, of one row, or of `FORMAT JSON`, which has them under `data`."""
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        document = document["data"]
    found = document if isinstance(document, list) else [document]
    return [item for item in found if isinstance(item, dict)]


def is_row(item: Mapping[str, Any]) -> bool:
    """Whether it has the columns of the table."""
    return set(item) >= _COLUMNS


def _batch(value: tuple[int, Any] | Problem) -> _spans.Batch | Problem:
    if isinstance(value, Problem):
        return value
    return value[0], [span_of_row(value[1])] if isinstance(value[1], dict) else []


def span_of_row(row: Mapping[str, Any]) -> Span:
    """The span of a row. 64-bit numbers may be texts, and attributes are."""
    start, duration = _time(row.get("Timestamp")), number(row.get("Duration"))
    ends = start is not None and isinstance(duration, (int, float)) and duration >= 0
    resource = _plain(row.get("ResourceAttributes"))
    service = row.get("ServiceName")
    return Span(
        name=_text(row.get("SpanName")),
        span_id=as_id(row.get("SpanId"), 16),
        trace_id=as_id(row.get("TraceId"), 32),
        parent_id=as_id(row.get("ParentSpanId"), 16),
        attributes=flattened(_plain(row.get("SpanAttributes"))),
        scope=_text(row.get("ScopeName")),
        kind=as_kind(row.get("SpanKind")),
        start=start,
        end=start + int(duration) if ends and start is not None else None,
        failed=is_error(row.get("StatusCode")),
        message=_text(row.get("StatusMessage")),
        events=[*_events(row)],
        resource={"service.name": service, **resource} if service else resource,
    )


def _events(row: Mapping[str, Any]) -> Iterator[Event]:
    """The events: a list for each of their columns."""
    names, attributes = row.get("Events.Name"), row.get("Events.Attributes")
    if isinstance(row.get("Events"), dict):
        names, attributes = row["Events"].get("Name"), row["Events"].get("Attributes")
    if isinstance(names, list):
        given = attributes if isinstance(attributes, list) else []
        for at, name in enumerate(names):
            yield Event(_text(name), _plain(given[at]) if at < len(given) else {})


def _plain(value: Any) -> dict[str, Any]:
    """A map: an object, or (Parquet) a list of pairs."""
    if isinstance(value, list):
        pairs = [pair for pair in value if isinstance(pair, list) and len(pair) == 2]
        value = {key: item for key, item in pairs if isinstance(key, str)}
    return dict(value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _time(value: Any) -> int | None:
    found = _MOMENT.match(value) if isinstance(value, str) else None
    if found is None:
        return as_time(value)
    seconds = as_time(found[1])
    return None if seconds is None else seconds + int((found[2] or "0").ljust(9, "0"))
