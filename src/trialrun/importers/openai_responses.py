"""OpenAI's Responses API: bodies, lists of items, streams, and logs of calls."""

from __future__ import annotations

from typing import Any

from trialrun.importers._items import is_item
from trialrun.importers._messages import role_of
from trialrun.importers._wire import WireImporter, is_responses_body, log_of


class OpenaiResponsesImporter(WireImporter):
    """Reads bodies, items, streams and logs of calls."""

    name = "openai_responses"
    title = "OpenAI Responses: bodies, items, streams, and logs of calls"
    export = "`response.model_dump_json()`, or the events of a stream, one JSON a line"
    example = (
        '{"request": {"model": "m", "input": "2 + 2?"}, "response": {"id": "r", '
        '"object": "response", "created_at": 1767323045, "status": "completed", "model": "m", '
        '"output": [{"type": "message", "role": "assistant", "content": '
        '[{"type": "output_text", "text": "4"}]}], '
        '"usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}}}'
    )

    def is_document(self, value: Any) -> bool:
        """Whether the value is a document of this API."""
        log = log_of(value)
        if log is not None:
            return is_responses_body(log[1])
        if isinstance(value, dict):
            return is_responses_body(value)
        return _are_items(value) or _are_bodies(value)

    def is_event(self, value: dict[str, Any]) -> bool:
        """Whether the value is an event of a stream of this API."""
        return str(value.get("type")).startswith("response.")


def _are_bodies(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_responses_body, value))


def _are_items(value: Any) -> bool:
    """Whether the list has items, among which there may be plain messages with a role."""
    if not isinstance(value, list) or not any(map(is_item, value)):
        return False
    return all(is_item(item) or role_of(item) is not None for item in value)
