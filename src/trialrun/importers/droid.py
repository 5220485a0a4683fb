"""Read sessions of Droid (Factory): one JSON object a line, messages in blocks, without usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._anthropic_blocks import read_reply, read_results
from trialrun.importers._values import as_dict, dicts_in, name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import COSTS, EVIDENCE, HANDOFFS, RETRIEVALS, TOKENS


class DroidImporter(Importer):
    """Reads one session."""

    name = "droid"
    title = "sessions of Droid (Factory)"
    suffixes = (".jsonl",)
    export = "`~/.factory/sessions/…/SESSION.jsonl`, as Droid writes it"
    carries = EVIDENCE - {COSTS, TOKENS, HANDOFFS, RETRIEVALS}
    one_run_a_file = True
    when_empty = "a session of Droid without a message"
    example = (
        '{"type": "session_start", "id": "s", "title": "t", "version": 2, "cwd": "/app"}\n'
        '{"type": "message", "id": "1", "timestamp": "2026-01-02T03:04:05Z", "message": '
        '{"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]}}\n'
        '{"type": "message", "id": "2", "timestamp": "2026-01-02T03:04:06Z", "message": {"role": '
        '"assistant", "content": [{"type": "tool_use", "id": "c", "name": "add", '
        '"input": {"a": 2, "b": 2}}]}}\n'
        '{"type": "message", "id": "3", "timestamp": "2026-01-02T03:04:07Z", "message": {"role": '
        '"user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "4"}]}}\n'
        '{"type": "message", "id": "4", "timestamp": "2026-01-02T03:04:08Z", "message": '
        '{"role": "assistant", "content": [{"type": "text", "text": "4"}]}}\n'
    )

    def recognises(self, source: Source) -> bool:
        first = source.objects[0] if source.objects else {}
        return first.get("type") == "session_start" and "id" in first

    def records(self, source: Source) -> Iterator[Record | Problem]:
        builder = TraceBuilder(self.name)
        builder.fields["framework"] = self.name
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif isinstance(item[1], dict):
                _line(builder, item[1])
        if not builder.is_empty:
            yield builder.trace(self.carries), []


def _line(builder: TraceBuilder, line: dict[str, Any]) -> None:
    message, at = as_dict(line.get("message")), line.get("timestamp")
    content = message.get("content")
    if line.get("type") == "session_start":
        builder.fields["id"] = name_of(line.get("id"))
        builder.fields["name"] = name_of(line.get("title"))
        if name_of(line.get("cwd")):
            builder.facts["cwd"] = line["cwd"]
    elif message.get("role") == "assistant":
        read_reply(builder, content, at)
    elif message.get("role") == "user" and not read_results(builder, content, at):
        builder.prompt(_prompt(content), at)


def _prompt(content: Any) -> str:
    """What the user wrote: Droid adds reminders before it, and files that are named after it."""
    if isinstance(content, str):
        return content
    texts = [name_of(block.get("text")) or "" for block in dicts_in(content)]
    return next((text for text in texts if text and not text.startswith("<system-")), "")
