"""A server that speaks the wires of OpenAI (chat, Responses) and Anthropic from a script.

Every conversation is the same: two parallel calls of `price` (tea, rum), then the answer `5 in
all`. Each model call reports 100 input tokens, 64 of them cached, and 20 output tokens, 8 of them
reasoning (Anthropic's way: 36 + 64 read + 10 written). So a run has 2 model calls, 2 tool calls and
240 tokens (Anthropic: 260).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "5 in all"
QUESTION = "How much are tea and rum?"
PRICES = {"tea": 2, "rum": 3}
ARGUMENTS = [("call_tea", {"of": "tea"}), ("call_rum", {"of": "rum"})]


def chat(request: dict[str, Any]) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    ended = "stop"
    if not any(one["role"] == "tool" for one in request["messages"]):
        calls = [
            {
                "id": key,
                "type": "function",
                "function": {"name": "price", "arguments": json.dumps(arguments)},
            }
            for key, arguments in ARGUMENTS
        ]
        message, ended = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
    return {
        "id": f"chatcmpl-{len(request['messages'])}",
        "object": "chat.completion",
        "created": 1_767_323_045,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": ended}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 8},
        },
    }


def responses(request: dict[str, Any]) -> dict[str, Any]:
    """A response of the Responses API."""
    given = request["input"] if isinstance(request["input"], list) else []
    output: list[dict[str, Any]]
    if any(one.get("type") == "function_call_output" for one in given):
        text = {"type": "output_text", "text": ANSWER, "annotations": []}
        output = [{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant"}]
        output[0]["content"] = [text]
    else:
        output = [
            {
                "type": "function_call",
                "id": f"fc_{key}",
                "call_id": key,
                "name": "price",
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            for key, arguments in ARGUMENTS
        ]
    return {
        "id": f"resp_{len(given)}",
        "object": "response",
        "created_at": 1_767_323_045,
        "status": "completed",
        "model": "scripted",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 8},
            "total_tokens": 120,
        },
    }


def messages(request: dict[str, Any]) -> dict[str, Any]:
    """A message of Anthropic's API."""
    blocks = [
        block
        for one in request["messages"]
        if isinstance(one["content"], list)
        for block in one["content"]
    ]
    content: list[dict[str, Any]] = [{"type": "text", "text": ANSWER}]
    if not any(block.get("type") == "tool_result" for block in blocks):
        content = [
            {"type": "tool_use", "id": key, "name": "price", "input": arguments}
            for key, arguments in ARGUMENTS
        ]
    return {
        "id": f"msg_{len(request['messages'])}",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "content": content,
        "stop_reason": "tool_use" if len(content) > 1 else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 36,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 10,
            "output_tokens": 20,
        },
    }


WIRES = {"/chat/completions": chat, "/responses": responses, "/messages": messages}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        request = json.loads(self.rfile.read(size) or b"{}")
        path = self.path.partition("?")[0]
        wire = next((wire for end, wire in WIRES.items() if path.endswith(end)), None)
        body = json.dumps({"error": "no such address"} if wire is None else wire(request)).encode()
        self.send_response(404 if wire is None else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing."""


@contextmanager
def scripted_models() -> Iterator[str]:
    """The address of a running server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
