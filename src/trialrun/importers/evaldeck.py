"""evaldeck: traces that it recorded with OpenInference, as `Trace.to_dict` writes them.

Each step is a span of OpenInference in other words: it is made a span again, so that messages in
JSON are read, chains are left out, and names of arguments come from what the model asked for. A
trace that was built by hand has no ids of spans: it is trialrun's own format, and read as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._source import NO_DOCUMENT
from trialrun.importers._spans.span import Span, as_time
from trialrun.importers._values import amount, dicts_in, name_of
from trialrun.importers.base import Importer, Record, Source

_TRACE = frozenset({"id", "input", "output", "status", "steps", "framework", "agent_name"})
_STEP = frozenset({"type", "timestamp", "tool_name", "tool_args", "reasoning_text", "tokens"})
_KINDS = {"llm_call": "LLM", "tool_call": "TOOL"}
_QUARTER = 900 * 10**9  # ns: time zones differ by quarters of an hour
# `[user]: How much?`: the beginning of a message in the text of a model call.
_SPEAKER = re.compile(r"^\[(\w+)\]: ", re.MULTILINE)


class EvaldeckImporter(Importer):
    """Reads one trace, a list of them, or JSON lines."""

    name = "evaldeck"
    title = "evaldeck traces: `Trace.to_dict()`, a list of them, JSON lines"
    suffixes = (".json", ".jsonl", ".ndjson")
    export = "`json.dump(trace.to_dict(), file)` of a trace of its LangChain runner"
    example = (
        '{"id": "5b8e", "input": "2 + 2?", "output": "4", "status": "success", "steps": [{"id": '
        '"1", "type": "llm_call", "timestamp": "2026-01-02T03:04:05", "status": "success", '
        '"model": "m", "input": "[user]: 2 + 2?", "output": "[assistant]: 4", "tokens": '
        '{"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}, "tool_name": null, '
        '"tool_args": null, "tool_result": null, "reasoning_text": null, "duration_ms": 20.0, '
        '"metadata": {"otel_span_id": "4196aea468d7f110"}}], "started_at": '
        '"2026-01-02T03:04:04Z", "completed_at": "2026-01-02T03:04:06Z", "framework": '
        '"openinference", "agent_name": null}'
    )

    def recognises(self, source: Source) -> bool:
        found = _traces(source.document) or source.objects
        return bool(found) and all(map(_is_trace, found))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        if source.document is not NO_DOCUMENT:
            traces: Any = enumerate(_traces(source.document))
        else:
            traces = source.values()
        yield from _spans.read(map(_batch, traces), self.name, str(source))


def _traces(document: Any) -> list[Any]:
    return document if isinstance(document, list) else [document] * isinstance(document, dict)


def _is_trace(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() >= _TRACE:
        return False
    steps = value["steps"]
    return isinstance(steps, list) and bool(steps) and all(map(_is_step, steps))


def _is_step(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() >= _STEP:
        return False
    return isinstance(value.get("metadata"), dict) and "otel_span_id" in value["metadata"]


def _batch(value: tuple[int, Any] | Problem) -> _spans.Batch | Problem:
    if isinstance(value, Problem):
        return value
    return value[0], _spans_of(value[1], value[0]) if _is_trace(value[1]) else []


def _spans_of(trace: dict[str, Any], number: int) -> list[Span]:
    key = name_of(trace["id"]) or f"trace {number + 1}"
    spans = [_span(step, key) for step in dicts_in(trace["steps"])]
    start, end = as_time(trace.get("started_at")), as_time(trace.get("completed_at"))
    _shift(spans, end)
    root = Span(
        name=name_of(trace["agent_name"]) or "agent",
        span_id="root",
        trace_id=key,
        parent_id="",
        attributes={
            "openinference.span.kind": "AGENT",
            "input.value": trace["input"],
            "output.value": trace["output"],
        },
        start=start,
        end=end,
        failed=trace["status"] == "error",
    )
    return [root, *spans]


def _shift(spans: list[Span], end: int | None) -> None:
    """Times of steps are local and without a zone, those of the trace are of UTC."""
    ends = [span.end for span in spans if span.end is not None]
    if end is None or not ends:
        return
    zone = round((max(ends) - end) / _QUARTER) * _QUARTER
    for span in spans:
        span.start = None if span.start is None else span.start - zone
        span.end = None if span.end is None else span.end - zone


def _span(step: dict[str, Any], key: str) -> Span:
    facts = step["metadata"]
    kind = facts.get("span_kind") or _KINDS.get(str(step["type"]), "CHAIN")
    if "guardrail_input" in facts:
        kind = "GUARDRAIL"
    attributes: dict[str, Any] = {"openinference.span.kind": kind, "llm.model_name": step["model"]}
    if kind == "LLM":
        attributes |= _of_model(step)
    else:
        attributes |= _of_call(step)
    end, ms = as_time(step["timestamp"]), amount(step.get("duration_ms"))
    return Span(
        name=name_of(step["tool_name"]) or kind.lower(),
        span_id=str(facts["otel_span_id"]),
        trace_id=key,
        parent_id="root",
        attributes={name: value for name, value in attributes.items() if value is not None},
        start=end - int((ms or 0) * 10**6) if end is not None else None,
        end=end,
        failed=step.get("status") == "failure",
        message=name_of(step.get("error")) or "",
    )


def _of_model(step: dict[str, Any]) -> dict[str, Any]:
    tokens = step["tokens"] if isinstance(step["tokens"], dict) else {}
    return {
        "llm.token_count.prompt": tokens.get("prompt_tokens"),
        "llm.token_count.completion": tokens.get("completion_tokens"),
        **_messages("llm.input_messages", "input.value", step.get("input")),
        **_messages("llm.output_messages", "output.value", step.get("output")),
    }


def _messages(spelled_out: str, whole: str, text: Any) -> dict[str, Any]:
    """The messages of a model call: one text, or JSON of a model without text."""
    if not isinstance(text, str) or not _SPEAKER.match(text):
        return {whole: text}
    _, *parts = _SPEAKER.split(text)
    found: dict[str, Any] = {}
    for number, (role, content) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        found[f"{spelled_out}.{number}.message.role"] = role
        found[f"{spelled_out}.{number}.message.content"] = content.removesuffix("\n")
    return found


def _of_call(step: dict[str, Any]) -> dict[str, Any]:
    args = step["tool_args"]
    is_text = isinstance(args, dict) and args.keys() == {"input"}
    return {
        "tool.name": step["tool_name"],
        # Arguments without names are below `input`; else they may be a schema of them.
        **({"input.value": args["input"]} if is_text else {"tool.parameters": args}),
        "output.value": step["tool_result"],
    }
