"""Messages of LangChain and states of LangGraph, in each of the forms in which they are saved.

`dumps` (`{"lc": 1, "type": "constructor", …}`), `messages_to_dict` (`{"type": "ai", "data": …}`)
and `model_dump` (`{"type": "ai", "content": …}`), as a list or below `messages`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._messages import Conversation, plain_message, role_of
from trialrun.importers._wire import CARRIES
from trialrun.importers.base import NO_DOCUMENT, Importer, Record, Source, TraceBuilder

_TYPES = frozenset({"human", "ai", "tool", "system", "function", "developer"})


class LangchainMessagesImporter(Importer):
    """Reads a list of messages, or the state of a graph."""

    name = "langchain_messages"
    title = "LangChain messages and LangGraph states"
    suffixes = (".json", ".jsonl", ".ndjson")
    export = "`langchain_core.load.dumps(state)`, `messages_to_dict(state['messages'])`"
    carries = CARRIES
    example = (
        '{"messages": [{"type": "human", "content": "2 + 2?"}, {"type": "ai", "content": "4", '
        '"tool_calls": [], "response_metadata": {"model_name": "m"}, '
        '"usage_metadata": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}}]}'
    )

    def recognises(self, source: Source) -> bool:
        if source.document is not NO_DOCUMENT:
            return messages_of(source.document) is not None
        return bool(source.objects) and all(
            messages_of(value) is not None or _is_message(value) for value in source.objects
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        if source.document is not NO_DOCUMENT:
            yield from self._trace(messages_of(source.document), source, None)
            return
        alone: list[Any] = []  # messages, one a line: one conversation
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif _is_message(item[1]):
                alone.append(item[1])
            else:
                yield from self._trace(messages_of(item[1]), source, item[0])
        if alone:
            yield from self._trace(alone, source, None)

    def _trace(
        self, messages: list[Any] | None, source: Source, line: int | None
    ) -> Iterator[Record | Problem]:
        builder = TraceBuilder(self.name)
        conversation = Conversation(builder)
        conversation.add_all(messages or [])
        conversation.finish()
        if builder.is_empty:
            yield Problem("expected messages of LangChain", file=str(source), line=line)
        else:
            yield conversation.trace(self.carries), []


def messages_of(value: Any) -> list[Any] | None:
    """The messages of a list, a state (`values` in a snapshot), or a dump of either."""
    for _ in range(4):
        if not isinstance(value, dict):
            break
        inner = [value[key] for key in ("messages", "values", "kwargs", "output") if key in value]
        if not inner or "role" in value:
            return None
        value = inner[0]
    if not isinstance(value, list) or not value or not any(map(_is_message, value)):
        return None
    return value if all(role_of(one) is not None for one in value) else None


def _is_message(value: Any) -> bool:
    """Whether it is a message in one of the forms of LangChain."""
    if not isinstance(value, dict):
        return False
    if "lc" in value and role_of(value) is not None:
        return True
    plain = plain_message(value)
    kind = str(plain.get("type")).removesuffix("MessageChunk").lower()
    return kind in _TYPES and "content" in plain and "role" not in plain
