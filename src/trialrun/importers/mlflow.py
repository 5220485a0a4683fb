"""MLflow: traces as `Trace.to_json` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._source import NO_DOCUMENT
from trialrun.importers._spans.otlp_json import listed, span_of
from trialrun.importers._spans.span import Span, decoded
from trialrun.importers.base import Importer, Record, Source


class MlflowImporter(Importer):
    """Reads `{info, data: {spans}}`, one or many. The sum in the trace's metadata is not added."""

    name = "mlflow"
    title = "MLflow traces: `Trace.to_json()`, a list of them, JSON lines"
    suffixes = (".json", ".jsonl", ".ndjson")
    export = "`mlflow.get_trace(ID).to_json()`, or `mlflow traces get`"
    example = (
        '{"info": {"trace_id": "tr-1", "state": "OK"}, "data": {"spans": ['
        '{"trace_id": "J6xbLGis4otCr7vL7f/Mcw==", "span_id": "J6xbLGis4os=",'
        ' "parent_span_id": null, "name": "chat", "start_time_unix_nano": 1784744268114742538,'
        ' "end_time_unix_nano": 1784744270610173022, "status": {"code": "STATUS_CODE_OK"},'
        ' "attributes": {"mlflow.spanType": "\\"CHAT_MODEL\\"", "mlflow.spanInputs":'
        ' "{\\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"2 + 2?\\"}]}",'
        ' "mlflow.spanOutputs": "{\\"choices\\": [{\\"message\\": {\\"role\\": \\"assistant\\",'
        ' \\"content\\": \\"4\\"}}]}"}}]}}'
    )

    def recognises(self, source: Source) -> bool:
        found = _traces(source.document) or source.objects[:1]
        return bool(found) and _is_trace(found[0])

    def records(self, source: Source) -> Iterator[Record | Problem]:
        name, file = self.name, str(source)
        if source.document is not NO_DOCUMENT:
            traces = enumerate(_traces(source.document))
            batches = ((number, [*_spans_of(trace)]) for number, trace in traces)
            yield from _spans.read(batches, name, file)
        else:
            last = _spans.last_places(source)
            yield from _spans.read(map(_batch, source.values()), name, file, last)


def _batch(value: tuple[int, Any] | Problem) -> _spans.Batch | Problem:
    return value if isinstance(value, Problem) else (value[0], [*_spans_of(value[1])])


def _traces(document: Any) -> list[dict[str, Any]]:
    if isinstance(document, list):
        return [item for item in document if isinstance(item, dict)]
    return [document] if isinstance(document, dict) else []


def _is_trace(item: dict[str, Any]) -> bool:
    return isinstance(item.get("info"), dict) and bool(listed(item.get("data"), "spans"))


def _spans_of(trace: Any) -> Iterator[Span]:
    data = trace.get("data") if isinstance(trace, dict) else None
    for item in listed(data, "spans"):
        span = span_of(item, "mlflow", {})
        if span.start is None:  # version 2 wrote nanoseconds under other names
            span = span_of({**item, **_old_names(item)}, "mlflow", {})
        # Every attribute is JSON in a string, texts too.
        span.attributes = {
            key: decoded(value) if key.startswith("mlflow.") else value
            for key, value in span.attributes.items()
        }
        yield span


def _old_names(item: dict[str, Any]) -> dict[str, Any]:
    given = item.get("context")
    context = given if isinstance(given, dict) else {}
    return {
        "trace_id": context.get("trace_id"),
        "span_id": context.get("span_id"),
        "parent_span_id": item.get("parent_id"),
        "start_time_unix_nano": item.get("start_time"),
        "end_time_unix_nano": item.get("end_time"),
        "status": {"code": item.get("status_code"), "message": item.get("status_message")},
    }
