"""OTLP exports of OpenTelemetry: JSON documents, JSON lines, protobuf; with log records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem, TraceError, UsageError
from trialrun.importers import _spans
from trialrun.importers._source import NO_DOCUMENT
from trialrun.importers._spans import logs as log_records
from trialrun.importers._spans.otlp_json import Log, listed, logs_of, spans_of
from trialrun.importers.base import Importer, Record, Source

_SPANS = ("resourceSpans", "resource_spans")
_LOGS = ("resourceLogs", "resource_logs")
_BINARY = (".pb", ".binpb", ".protobuf", ".otlp")


class OtlpImporter(Importer):
    """Reads the spans that OpenTelemetry's exporters and its collector write."""

    name = "otlp"
    title = "OpenTelemetry OTLP: JSON, JSON lines, protobuf; spans of any library, log records"
    suffixes = (".json", ".jsonl", ".ndjson", *_BINARY)
    export = "the collector's `file` exporter, or the body of a request to `/v1/traces`"
    example = (
        '{"resourceSpans": [{"scopeSpans": [{"scope": {"name": "pydantic-ai"}, "spans": ['
        '{"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174",'
        ' "name": "chat m", "startTimeUnixNano": "1784744268114742538",'
        ' "endTimeUnixNano": "1784744270610173022", "attributes": ['
        '{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},'
        '{"key": "gen_ai.request.model", "value": {"stringValue": "m"}},'
        '{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "9"}},'
        '{"key": "gen_ai.input.messages", "value": {"stringValue": "[{\\"role\\": \\"user\\",'
        ' \\"parts\\": [{\\"type\\": \\"text\\", \\"content\\": \\"2 + 2?\\"}]}]"}},'
        '{"key": "gen_ai.output.messages", "value": {"stringValue": "[{\\"role\\":'
        ' \\"assistant\\", \\"parts\\": [{\\"type\\": \\"text\\", \\"content\\": \\"4\\"}]}]"}}'
        "]}]}]}]}"
    )

    def recognises(self, source: Source) -> bool:
        if _is_binary(source):
            return True
        found = source.objects[:3] or _exports(source.document)[:3]
        return any(_is_export(item) for item in found)

    def records(self, source: Source) -> Iterator[Record | Problem]:
        if _is_binary(source):
            yield from self._read([(0, item) for item in _protobuf(source)], source)
        elif source.document is not NO_DOCUMENT:
            yield from self._read([(0, item) for item in _exports(source.document)], source)
        else:
            values = source.values()
            if _has_logs(source):  # a record may come before or after its span: hold them
                yield from self._read([*values], source)
            else:
                batches = (_batch(value) for value in values)
                last = _spans.last_places(source)
                yield from _spans.read(batches, self.name, str(source), last)

    def _read(
        self, values: list[tuple[int, Any] | Problem], source: Source
    ) -> Iterator[Record | Problem]:
        spans: list[_spans.Span] = []
        logs: list[Log] = []
        for value in values:
            if isinstance(value, Problem):
                yield value
                continue
            spans += spans_of(listed(value[1], *_SPANS))
            logs += logs_of(listed(value[1], *_LOGS))
        lost = log_records.join(spans, logs)
        if not spans and lost:
            yield Problem("log records without spans: export the traces too", file=str(source))
            return
        yield from _spans.read([(0, spans)], self.name, str(source))


def _exports(document: Any) -> list[dict[str, Any]]:
    """The one export, or the exports of a list."""
    found = document if isinstance(document, list) else [document]
    return [item for item in found if isinstance(item, dict)]


def _is_export(value: dict[str, Any]) -> bool:
    return any(isinstance(value.get(key), list) for key in (*_SPANS, *_LOGS))


def _batch(value: tuple[int, Any] | Problem) -> _spans.Batch | Problem:
    if isinstance(value, Problem):
        return value
    return value[0], [*spans_of(listed(value[1], *_SPANS))]


def _has_logs(source: Source) -> bool:
    return any(
        isinstance(line, bytes) and (b'"resourceLogs"' in line or b'"resource_logs"' in line)
        for _, line in source.lines()
    )


# Protobuf


def _is_binary(source: Source) -> bool:
    """A message of OTLP begins with its first field, of variable length (0x0a).

    The collector writes the length of each message before it, in four bytes.
    """
    if not source.path.name.lower().removesuffix(".gz").removesuffix(".zst").endswith(_BINARY):
        return False
    start = source.start
    return start[:1] == b"\x0a" or (len(start) > 4 and start[4:5] == b"\x0a")


def _protobuf(source: Source) -> Iterator[Any]:
    try:
        from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )
    except ImportError:
        raise UsageError("OTLP in protobuf needs: pip install '.[formats]'") from None
    for data in _messages(source.content()):
        for kind in (ExportTraceServiceRequest, ExportLogsServiceRequest):
            message = kind()
            try:
                message.ParseFromString(data)
            except DecodeError:
                continue
            yield MessageToDict(message)  # ids are base64 there, which `as_id` reads
            break
        else:
            raise TraceError("not a message of OTLP in protobuf")


def _messages(data: bytes) -> Iterator[bytes]:
    if data[:1] == b"\x0a":
        yield data
        return
    place = 0
    while place + 4 <= len(data):
        size = int.from_bytes(data[place : place + 4], "big")
        yield data[place + 4 : place + 4 + size]
        place += 4 + size
