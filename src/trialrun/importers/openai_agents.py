"""OpenAI Agents SDK: its own traces and spans, as `export()` gives them to a processor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._source import NO_DOCUMENT
from trialrun.importers._spans.otlp_json import listed
from trialrun.importers._spans.span import Span, as_time
from trialrun.importers.base import Importer, Record, Source

_OPERATIONS = {
    "agent": "invoke_agent",
    "generation": "chat",
    "response": "chat",
    "function": "execute_tool",
    "handoff": "handoff",
    "guardrail": "guardrail",
}


class OpenaiAgentsImporter(Importer):
    """Reads exported spans. `turn` and `task` spans repeat usage and are structure."""

    name = "openai_agents"
    title = "OpenAI Agents SDK: exported traces and spans (a list, `{data: …}`, JSON lines)"
    suffixes = (".json", ".jsonl", ".ndjson")
    export = "a `TracingProcessor` that writes `span.export()`, one a line"
    example = (
        '{"object": "trace.span", "id": "span_1", "trace_id": "trace_1", "parent_id": null,'
        ' "started_at": "2026-11-18T14:53:12.634529+00:00",'
        ' "ended_at": "2026-11-18T14:53:12.634547+00:00", "span_data": {"type": "generation",'
        ' "model": "m", "input": [{"role": "user", "content": "2 + 2?"}],'
        ' "output": [{"role": "assistant", "content": "4"}],'
        ' "usage": {"input_tokens": 9, "output_tokens": 1}}, "error": null}\n'
        '{"object": "trace", "id": "trace_1", "workflow_name": "sums", "group_id": null}\n'
    )

    def recognises(self, source: Source) -> bool:
        found = _items(source.document) or source.objects[:5]
        return any(_is_item(item) for item in found[:5])

    def records(self, source: Source) -> Iterator[Record | Problem]:
        name, file = self.name, str(source)
        if source.document is not NO_DOCUMENT and not _is_item(source.document):
            spans = [_span(item) for item in _items(source.document) if _is_span(item)]
            yield from _spans.read([(0, spans)], name, file)
        else:
            last = _spans.last_places(source)
            yield from _spans.read(map(_batch, source.values()), name, file, last)


def _batch(value: tuple[int, Any] | Problem) -> _spans.Batch | Problem:
    if isinstance(value, Problem):
        return value
    return value[0], [_span(value[1])] if _is_span(value[1]) else []


def _items(document: Any) -> list[dict[str, Any]]:
    if isinstance(document, list):
        return [item for item in document if isinstance(item, dict)]
    return [document] if _is_item(document) else listed(document, "data")


def _is_item(item: Any) -> bool:
    return _is_span(item) or (
        isinstance(item, dict) and item.get("object") == "trace" and "workflow_name" in item
    )


def _is_span(item: Any) -> bool:
    return isinstance(item, dict) and item.get("object") == "trace.span"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _span(item: dict[str, Any]) -> Span:
    given = item.get("span_data")
    data = given if isinstance(given, dict) else {}
    kind = _text(data.get("type"))
    error = item.get("error")
    name = _text(data.get("name")) or kind
    attributes = {"gen_ai.operation.name": _OPERATIONS.get(kind, kind), **_content(kind, data)}
    return Span(
        name=name,
        span_id=_text(item.get("id")),
        trace_id=_text(item.get("trace_id")),
        parent_id=_text(item.get("parent_id")),
        attributes={key: value for key, value in attributes.items() if value is not None},
        scope="openai-agents",
        start=as_time(item.get("started_at")),
        end=as_time(item.get("ended_at")),
        failed=error is not None or data.get("triggered") is True,
        message=_text(error.get("message")) if isinstance(error, dict) else "",
    )


def _content(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    if kind == "function":
        return {
            "gen_ai.tool.name": data.get("name"),
            "gen_ai.tool.call.arguments": data.get("input"),
            "gen_ai.tool.call.result": data.get("output"),
        }
    if kind == "agent":
        return {"gen_ai.agent.name": data.get("name")}
    if kind == "handoff":
        return {"handoff.to_agent": data.get("to_agent")}
    if kind not in ("generation", "response"):
        return {}
    # A response has only its id; its usage is beside it since version 0.24.
    return {
        "gen_ai.response.model": data.get("model"),
        "gen_ai.response.id": data.get("response_id"),
        "gen_ai.input.messages": data.get("input"),
        "gen_ai.output.messages": data.get("output"),
        "openai_agents.usage": data.get("usage"),
    }
