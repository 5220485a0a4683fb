"""Messages of OpenAI's chat API, which most providers and many agents use.

Lists of messages, bodies and streams of chat completions, and logs of calls (a request with its
response). Each call of a log repeats the history: its replies are not counted again.
"""

from __future__ import annotations

from typing import Any

from trialrun.importers._values import dicts_in, text_of
from trialrun.importers._wire import (
    WireImporter,
    is_chat_body,
    is_messages_body,
    is_responses_body,
    log_of,
)

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_KNOWN = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio"}
    | {"annotations", "reasoning_content", "reasoning", "reasoning_details", "tool_name", "id"}
    | {"weight", "images", "provider_specific_fields", "thinking_blocks", "cache_control"}
    | {"model", "usage"}
)
# Observations of mini-swe-agent, whose commands are in the texts of the replies.
_RETURNED = "<returncode>"
_ANTHROPIC = ("tool_use", "tool_result", "thinking", "server_tool_use", "redacted_thinking")
# Keys beside `messages` that belong to other formats.
_OTHERS = frozenset(
    {"simulations", "trajectory", "trajectory_format", "samples", "eval", "sessionId", "history"}
    | {"info", "next", "lc_version", "reward_info"}
)


class OpenaiChatImporter(WireImporter):
    """Reads lists of messages, bodies, streams and logs of calls."""

    name = "openai_chat"
    title = "OpenAI chat: messages, bodies, streams, and logs of calls such as LiteLLM's"
    export = "`json.dump(messages, file)`; for a log, the request with the response, one a file"
    example = (
        '{"messages": [{"role": "user", "content": "2 + 2?"}], "response": {"id": "c", '
        '"object": "chat.completion", "model": "m", "choices": [{"message": '
        '{"role": "assistant", "content": "4"}}], '
        '"usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}}}'
    )

    def is_document(self, value: Any) -> bool:
        """Whether the value is a document of this API."""
        log = log_of(value)
        if log is not None:
            return is_chat_body(log[1])
        if isinstance(value, dict):
            if is_chat_body(value):
                return True
            if is_responses_body(value) or is_messages_body(value) or _OTHERS & set(value):
                return False
            return is_chat(value.get("messages"))
        return is_chat(value) or _all_bodies(value)

    def is_event(self, value: dict[str, Any]) -> bool:
        """Whether the value is an event of a stream of this API."""
        return value.get("object") == "chat.completion.chunk"


def _all_bodies(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_chat_body, value))


def is_chat(value: Any) -> bool:
    """Whether the value is a list of messages, and none of them has blocks of Anthropic's API."""
    if not isinstance(value, list) or not value:
        return False
    if not all(isinstance(item, dict) and item.get("role") in ROLES for item in value):
        return False
    if not any(item["role"] in ("user", "assistant") for item in value):
        return False
    if any(set(item) - _KNOWN for item in value):
        return False
    if any(text_of(item.get("content")).startswith(_RETURNED) for item in value):
        return False
    blocks = (block for item in value for block in dicts_in(item.get("content")))
    return not any(block.get("type") in _ANTHROPIC for block in blocks)
