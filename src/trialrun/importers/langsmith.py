"""LangSmith: exported runs, and bodies of its batch calls (a run is posted, then patched)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trialrun.errors import Problem
from trialrun.importers import _spans
from trialrun.importers._source import NO_DOCUMENT
from trialrun.importers._spans.otlp_json import listed
from trialrun.importers._spans.span import Span, as_time, decoded
from trialrun.importers.base import Importer, Record, Source

_EMPTY: tuple[Any, ...] = (None, {}, [], "")


class LangsmithImporter(Importer):
    """Reads runs; those of one `trace_id` are one run of an agent."""

    name = "langsmith"
    title = "LangSmith: exported runs (a list, `{runs: …}`, JSON lines), batches of post and patch"
    suffixes = (".json", ".jsonl", ".ndjson", ".parquet")
    export = "`[run.dict() for run in Client().list_runs(…)]`, or the bulk export as JSON lines"
    example = (
        '[{"id": "r1", "trace_id": "r1", "name": "ChatOpenAI", "run_type": "llm",'
        ' "start_time": "2026-07-07T16:15:57.114896Z", "end_time": "2026-07-07T16:15:57.963033Z",'
        ' "inputs": {"messages": [{"role": "user", "content": "2 + 2?"}]},'
        ' "outputs": {"choices": [{"message": {"role": "assistant", "content": "4"}}],'
        ' "usage_metadata": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}}}]'
    )

    def recognises(self, source: Source) -> bool:
        found = _runs(source.document) or source.objects[:1]
        return any(_is_run(item) or _runs(item) for item in found[:3])

    def records(self, source: Source) -> Iterator[Record | Problem]:
        merged: dict[str, dict[str, Any]] = {}
        if source.document is not NO_DOCUMENT:
            _merge(merged, _runs(source.document))
        elif all("trace_id" in one for one in source.objects):
            last = _spans.last_places(source)
            batches = _by_trace(source.values(), last)
            yield from _spans.read(batches, self.name, str(source), last, windowed=True)
            return
        else:
            for value in source.values():
                if isinstance(value, Problem):
                    yield value
                else:
                    _merge(merged, _runs(value[1]) or [value[1]])
        spans = [span_of_run(run) for run in merged.values()]
        yield from _spans.read([(0, spans)], self.name, str(source))


def _by_trace(
    values: Iterable[tuple[int, Any] | Problem], last: Mapping[str, int]
) -> Iterator[_spans.Batch | Problem]:
    """The spans of each trace when its last line is reached: a run may be on several lines."""
    waiting: dict[str, dict[str, dict[str, Any]]] = {}
    place = 0
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        place, found = value
        for run in _runs(found) or [found]:
            key = _text(run.get("trace_id")) if isinstance(run, dict) else ""
            _merge(waiting.setdefault(key, {}), [run])
            if last.get(_spans.as_id(key, 32)) == place and key in waiting:
                yield place, [span_of_run(one) for one in waiting.pop(key).values()]
    for merged in waiting.values():
        yield place + 1, [span_of_run(one) for one in merged.values()]


def _runs(document: Any) -> list[dict[str, Any]]:
    if isinstance(document, list):
        found = [item for item in document if isinstance(item, dict)]
    elif isinstance(document, dict) and _is_run(document):
        found = [document, *_children(document)]
    else:
        found = [*listed(document, "post"), *listed(document, "patch"), *listed(document, "runs")]
    return [one for one in found if _is_run(one) or "dotted_order" in one]


def _children(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    waiting = listed(run, "child_runs")
    while waiting:
        child = waiting.pop(0)
        yield child
        waiting += listed(child, "child_runs")


def _is_run(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("run_type"), str)
        and "start_time" in item
        and isinstance(item.get("id"), str)
    )


def _merge(merged: dict[str, dict[str, Any]], runs: Iterable[Any]) -> None:
    """Later values of the same run replace earlier ones, but not by nothing."""
    for run in runs:
        if isinstance(run, dict) and isinstance(run.get("id"), str) and run["id"]:
            known = merged.setdefault(run["id"], {})
            known |= {key: value for key, value in run.items() if value not in _EMPTY}


def _dict(value: Any) -> dict[str, Any]:
    value = decoded(value)
    return value if isinstance(value, dict) else {}


def span_of_run(run: dict[str, Any]) -> Span:
    """The span of a run."""
    extra, outputs = _dict(run.get("extra")), decoded(run.get("outputs"))
    metadata = _dict(extra.get("metadata"))
    error = run.get("error")
    attributes = {
        "langsmith.span.kind": run.get("run_type"),
        "gen_ai.prompt": decoded(run.get("inputs")),
        "gen_ai.completion": _output(outputs),
        "gen_ai.tool.call.id": extra.get("tool_call_id"),
        "gen_ai.response.model": _model(outputs),
        "langsmith.metadata.ls_model_name": metadata.get("ls_model_name"),
        "langsmith.usage_metadata": _usage(run, outputs),
        "operation.cost": run.get("total_cost"),
        "test.case.name": metadata.get("test.case.name"),
    }
    return Span(
        name=run["name"] if isinstance(run.get("name"), str) else "",
        span_id=run["id"],
        trace_id=_text(run.get("trace_id")) or run["id"],
        parent_id=_text(run.get("parent_run_id")),
        attributes={key: value for key, value in attributes.items() if value is not None},
        scope="langsmith",
        start=as_time(run.get("start_time")),
        end=as_time(run.get("end_time")),
        failed=isinstance(error, str) and bool(error),
        message=_text(error),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _output(outputs: Any) -> Any:
    """What a run gave back; a tool's is under `output`."""
    if isinstance(outputs, dict) and set(outputs) == {"output"}:
        return outputs["output"]
    return outputs


def _inside(value: Any, key: str, depth: int = 6) -> Any:
    """The value of a key inside the reply of a model, wherever LangChain has put it."""
    if isinstance(value, list):
        value = value[0] if value else None
        return _inside(value, key, depth - 1) if depth else None
    if not isinstance(value, dict) or not depth:
        return None
    if value.get(key):
        return value[key]
    for inner in ("generations", "message", "kwargs", "response_metadata", "llm_output", "output"):
        found = _inside(value.get(inner), key, depth - 1)
        if found:
            return found
    return None


def _model(outputs: Any) -> str | None:
    name = _inside(outputs, "model_name") or _inside(outputs, "model")
    return name if isinstance(name, str) else None


def _usage(run: dict[str, Any], outputs: Any) -> Any:
    for key in ("usage_metadata", "token_usage", "usage"):
        found = _inside(outputs, key)
        if isinstance(found, dict):
            return found
    into, out = run.get("prompt_tokens"), run.get("completion_tokens")
    return {"prompt_tokens": into, "completion_tokens": out} if into or out else None
