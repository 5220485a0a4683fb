"""Langfuse: traces downloaded from its user interface or API, and exported observations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._source import NO_DOCUMENT
from trialrun.importers._spans.otlp_json import attributes_of, listed
from trialrun.importers._spans.span import Span, as_id, as_time, decoded
from trialrun.importers.base import Importer, Record, Source

_TYPES = frozenset(
    {
        "SPAN", "GENERATION", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING",
        "EVALUATOR", "GUARDRAIL",
    }
)  # fmt: skip


class LangfuseImporter(Importer):
    """Reads observations; those of one trace are one run."""

    name = "langfuse"
    title = "Langfuse: downloads of a trace, `/api/public/traces/ID`, rows of observations"
    suffixes = (".json", ".jsonl", ".ndjson", ".parquet")
    export = "Langfuse, a trace, *Download as JSON*; or the export of observations as JSON lines"
    example = (
        '{"trace": {"id": "t1", "name": "qa", "input": "2 + 2?", "output": "4"}, "observations": ['
        '{"id": "o1", "traceId": "t1", "type": "GENERATION", "name": "chat",'
        ' "startTime": "2025-06-06T11:31:33.978Z", "endTime": "2025-06-06T11:31:34.606Z",'
        ' "parentObservationId": null, "input": "[{\\"role\\": \\"user\\",'
        ' \\"content\\": \\"2 + 2?\\"}]", "output": "4", "model": "m",'
        ' "usageDetails": {"input": 9, "output": 1, "total": 10}}]}'
    )

    def recognises(self, source: Source) -> bool:
        found = _traces(source.document)
        if found:
            return any(_is_observation(item) for _, rows in found for item in rows[:5])
        return bool(source.objects) and _is_observation(source.objects[0])

    def records(self, source: Source) -> Iterator[Record | Problem]:
        name, file = self.name, str(source)
        if source.document is not NO_DOCUMENT and not _is_observation(source.document):
            traces = enumerate(_traces(source.document))
            batches = (
                (n, [*_root(trace, rows), *map(span_of_row, rows)]) for n, (trace, rows) in traces
            )
            yield from _spans.read(batches, name, file)
        else:
            last = _spans.last_places(source)
            yield from _spans.read(map(_batch, source.values()), name, file, last, windowed=True)


def _batch(value: tuple[int, Any] | Problem) -> _spans.Batch | Problem:
    if isinstance(value, Problem):
        return value
    return value[0], [span_of_row(value[1])] if isinstance(value[1], dict) else []


def _traces(document: Any) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each trace with its observations; a list of observations has no trace beside it."""
    if isinstance(document, list):
        items = [item for item in document if isinstance(item, dict)]
        if items and _is_observation(items[0]):
            return [({}, items)]
        return [found for item in items for found in _traces(item)]
    if not isinstance(document, dict):
        return []
    data = listed(document, "data")  # a page of the API
    if data and _is_observation(data[0]):
        return [({}, data)]
    rows = listed(document, "observations")
    trace = document.get("trace", document)
    return [(trace if isinstance(trace, dict) else {}, rows)] if rows else []


def _is_observation(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return False
    timed = "startTime" in item or "start_time" in item
    return item["type"] in _TYPES and timed and ("traceId" in item or "trace_id" in item)


def _get(row: dict[str, Any], name: str) -> Any:
    """The value of a column, in camel case or (blob exports) in snake case."""
    value = row.get(name)
    if value is None:
        value = row.get("".join(f"_{c.lower()}" if c.isupper() else c for c in name))
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _root(trace: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[Span]:
    """The trace itself as a span around the observations: it has what was asked and answered."""
    if trace.get("input") is None and trace.get("output") is None:
        return
    starts = [start for row in rows if (start := as_time(_get(row, "startTime"))) is not None]
    yield Span(
        name=_text(trace.get("name")) or "trace",
        span_id="",
        trace_id=as_id(trace.get("id"), 32),
        parent_id="",
        attributes={
            "langfuse.observation.type": "trace",
            "langfuse.observation.input": trace.get("input"),
            "langfuse.observation.output": trace.get("output"),
        },
        start=min(starts, default=None),
    )


def span_of_row(row: dict[str, Any]) -> Span:
    """The span of an observation."""
    metadata = decoded(row.get("metadata"))
    metadata = metadata if isinstance(metadata, dict) else {}
    inner = decoded(metadata.get("attributes"))
    attributes = dict(attributes_of(inner)) if isinstance(inner, (dict, list)) else {}
    is_tool = row.get("type") == "SPAN" and _is_tool_message(row.get("output"))
    given = {
        "type": "tool" if is_tool else _text(row.get("type")).lower(),
        "input": row.get("input"),
        "output": row.get("output"),
        "model.name": _get(row, "model") or _get(row, "providedModelName"),
        "usage_details": _usage(row),
        "cost_details": _cost(row),
    }
    attributes |= {
        f"langfuse.observation.{name}": value for name, value in given.items() if value is not None
    }
    return Span(
        name=_text(row.get("name")),
        span_id=_text(row.get("id")),
        trace_id=as_id(_get(row, "traceId"), 32),
        parent_id=_text(_get(row, "parentObservationId")),
        attributes=attributes,
        scope="langfuse-sdk",  # Langfuse has its own names for what other libraries recorded
        start=as_time(_get(row, "startTime")),
        end=as_time(_get(row, "endTime")),
        failed=row.get("level") == "ERROR",
        message=_text(_get(row, "statusMessage")),
    )


def _is_tool_message(output: Any) -> bool:
    """Whether a span gave back a tool message of LangChain: older exports call tools spans."""
    if isinstance(output, str) and '"tool_call_id"' not in output:
        return False
    value = decoded(output)
    inner = value.get("kwargs", value) if isinstance(value, dict) else None
    return isinstance(inner, dict) and isinstance(inner.get("tool_call_id"), str)


def _usage(row: dict[str, Any]) -> Any:
    details = decoded(_get(row, "usageDetails"))
    if isinstance(details, dict) and details:
        return details
    usage = decoded(row.get("usage"))
    return usage if isinstance(usage, dict) and usage else None


def _cost(row: dict[str, Any]) -> Any:
    for name in ("costDetails", "calculatedTotalCost", "totalCost"):
        value = decoded(_get(row, name))
        if value:
            return value
    return None
