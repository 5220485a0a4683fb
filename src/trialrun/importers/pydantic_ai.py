"""Message histories of pydantic-ai: lists of requests and responses with parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._messages import Conversation
from trialrun.importers._pydantic_parts import add_model_message, is_model_message
from trialrun.importers._wire import CARRIES
from trialrun.importers.base import NO_DOCUMENT, Importer, Record, Source, TraceBuilder


class PydanticAiImporter(Importer):
    """Reads a list of messages."""

    name = "pydantic_ai"
    title = "pydantic-ai message histories"
    suffixes = (".json", ".jsonl", ".ndjson")
    export = "`result.all_messages_json()`"
    carries = CARRIES
    example = (
        '[{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "2 + 2?"}]}, '
        '{"kind": "response", "model_name": "m", "parts": [{"part_kind": "text", "content": "4"}], '
        '"usage": {"input_tokens": 9, "output_tokens": 1}}]'
    )

    def recognises(self, source: Source) -> bool:
        if source.document is not NO_DOCUMENT:
            return messages_of(source.document) is not None
        return bool(source.objects) and all(map(is_model_message, source.objects))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        builder = TraceBuilder(self.name)
        conversation = Conversation(builder)
        if source.document is not NO_DOCUMENT:
            found: list[Any] = messages_of(source.document) or []
        else:
            found = []
            for item in source.values():
                if isinstance(item, Problem):
                    yield item
                else:
                    found.append(item[1])
        for message in found:
            if is_model_message(message):
                add_model_message(conversation, message)
            else:
                builder.dropped("entry that is not a message")
        conversation.finish()
        if builder.is_empty:
            yield Problem("the messages hold neither a prompt nor a reply", file=str(source))
        else:
            yield conversation.trace(self.carries), []


def messages_of(value: Any) -> list[Any] | None:
    """The messages of a list, or below `messages` or `message_history`."""
    if isinstance(value, dict):
        value = value.get("messages", value.get("message_history"))
    if isinstance(value, list) and value and all(map(is_model_message, value)):
        return value
    return None
