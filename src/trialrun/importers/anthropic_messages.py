"""Anthropic's Messages API: bodies, lists of messages, streams, and logs of calls."""

from __future__ import annotations

from typing import Any

from trialrun.importers._wire import WireImporter, is_messages_body, log_of, messages_in

_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}
    | {"mcp_tool_use", "mcp_tool_result", "web_search_tool_result"}
)


class AnthropicMessagesImporter(WireImporter):
    """Reads bodies, messages, streams and logs of calls."""

    name = "anthropic_messages"
    title = "Anthropic messages: bodies, lists of messages, streams, and logs of calls"
    export = "`message.model_dump_json()`, `json.dump(messages, file)`, or the events of a stream"
    example = (
        '{"request": {"model": "claude-sonnet-4-5", "messages": [{"role": "user", '
        '"content": "2 + 2?"}]}, "response": {"id": "m", "type": "message", "role": "assistant", '
        '"model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "4"}], '
        '"stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 1}}}'
    )

    def is_document(self, value: Any) -> bool:
        """Whether the value is a document of this API."""
        log = log_of(value)
        if log is not None:
            return is_messages_body(log[1])
        if isinstance(value, dict):
            return is_messages_body(value) or _has_blocks(messages_in(value))
        if isinstance(value, list) and value and all(map(is_messages_body, value)):
            return True
        return _has_blocks(value)

    def is_event(self, value: dict[str, Any]) -> bool:
        """Whether the value is an event of a stream of this API."""
        return value.get("type") == "message_start" and isinstance(value.get("message"), dict)


def _has_blocks(messages: Any) -> bool:
    """Whether the list has messages of user and assistant, some with blocks of this API."""
    if not isinstance(messages, list) or not messages:
        return False
    if not all(isinstance(one, dict) and one.get("role") in _ROLES for one in messages):
        return False
    if any("lc" in one or "tool_calls" in one or "type" in one for one in messages):
        return False
    contents = [one["content"] for one in messages if isinstance(one.get("content"), list)]
    blocks = [block for content in contents for block in content if isinstance(block, dict)]
    return any(str(block.get("type")) in _BLOCKS for block in blocks)


_ROLES = ("user", "assistant", "system")
