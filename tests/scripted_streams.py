"""The replies of scripted models as streams of server-sent events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any


def _written(events: Iterable[dict[str, Any]]) -> bytes:
    rows = []
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        rows.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(rows).encode()


def chat(reply: dict[str, Any]) -> bytes:
    """A chat completion: its text, each of its calls, why it ended, the usage."""
    choice = reply["choices"][0]
    said = {**choice["message"]}
    calls = said.pop("tool_calls", [])
    deltas = [said, *({"tool_calls": [{**call, "index": at}]} for at, call in enumerate(calls))]
    same = {**reply, "object": "chat.completion.chunk", "usage": None}
    found = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    found.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
    events = [{**same, "choices": [one]} for one in found]
    events.append({**same, "choices": [], "usage": reply["usage"]})
    return _written(events) + b"data: [DONE]\n\n"


def responses(reply: dict[str, Any]) -> bytes:
    """A response of the Responses API: its items, then the whole."""
    events = [{"type": "response.created", "response": {**reply, "output": [], "usage": None}}]
    for index, item in enumerate(reply["output"]):
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return _written([*events, {"type": "response.completed", "response": reply}])


def messages(reply: dict[str, Any]) -> bytes:
    """A message of Anthropic's API: the count of output tokens begins at 1."""
    begun = {"content": [], "stop_reason": None, "usage": {**reply["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**reply, **begun}}]
    for index, block in enumerate(reply["content"]):
        if block["type"] == "text":
            empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        start = {"type": "content_block_start", "content_block": {**block, **empty}}
        parts = [start, {"type": "content_block_delta", "delta": delta}]
        events += [{**part, "index": index} for part in parts]
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": reply["usage"]})
    return _written([*events, {"type": "message_stop"}])


def generate(reply: dict[str, Any]) -> bytes:
    """A reply of Gemini's API, in one piece."""
    return _written([reply])


STREAMS: dict[str | None, Callable[[dict[str, Any]], bytes]] = {
    "/chat/completions": chat,
    "/responses": responses,
    "/messages": messages,
    ":streamGenerateContent": generate,
}
