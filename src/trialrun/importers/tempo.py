"""Traces that Grafana Tempo exports as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._spans.otlp_json import listed, spans_of
from trialrun.importers.base import Importer, Record, Source

_SCOPES = ("scopeSpans", "instrumentationLibrarySpans", "ilSpans")


class TempoImporter(Importer):
    """Reads the envelope of Tempo: OTLP under `batches`, or under `trace`."""

    name = "tempo"
    title = "Grafana Tempo's JSON: downloads of Grafana, `/api/traces`, `/api/v2/traces`"
    suffixes = (".json",)
    export = "Grafana, *Explore*, a trace, *Inspector*, *JSON*; or `curl HOST:3200/api/traces/ID`"
    example = (
        '{"batches": [{"resource": {"attributes": []}, "instrumentationLibrarySpans": ['
        '{"instrumentationLibrary": {"name": "gcp.vertex.agent"}, "spans": ['
        '{"traceId": "dd547580319ab0312cee07f1def50dad", "spanId": "6ed9a13ee02d7cab",'
        ' "name": "call_llm", "kind": "SPAN_KIND_INTERNAL", "attributes": ['
        '{"key": "gcp.vertex.agent.llm_request", "value": {"stringValue":'
        ' "{\\"contents\\": [{\\"parts\\": [{\\"text\\": \\"2 + 2?\\"}],'
        ' \\"role\\": \\"user\\"}]}"}}, {"key": "gcp.vertex.agent.llm_response", "value":'
        ' {"stringValue": "{\\"content\\": {\\"parts\\": [{\\"text\\": \\"4\\"}],'
        ' \\"role\\": \\"model\\"}}"}}]}]}]}]}'
    )

    def recognises(self, source: Source) -> bool:
        return any(listed(item, *_SCOPES) for item in _batches(source.document))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        spans = [*spans_of(_batches(source.document))]
        yield from _spans.read([(0, spans)], self.name, str(source))


def _batches(document: Any) -> list[dict[str, Any]]:
    if not isinstance(document, dict):
        return []
    inner = document.get("trace")
    if isinstance(inner, dict):
        return listed(inner, "batches", "resourceSpans")
    return listed(document, "batches")
