"""A server that speaks the wires of OpenAI (chat, Responses), Anthropic and Gemini from a script.

Every conversation is the same: two parallel calls of `price` (tea, rum), then the answer `5 in
all`. A program that offers its shell instead gets two commands, of which the second exits with 3.
Each model call reports 100 input tokens, 64 of them cached, and 20 output tokens, 8 of them
reasoning (Anthropic's way: 36 + 64 read + 10 written). So a run has 2 model calls, 2 tool calls and
240 tokens (Anthropic: 260).

Anthropic's wire may be given other scripts, by a text in the first message of the conversation: one
text or call for each message of the model, the last one again and again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.scripted_streams import STREAMS

ANSWER = "5 in all"
QUESTION = "How much are tea and rum?"
PRICES = {"tea": 2, "rum": 3}
ARGUMENTS = [("call_tea", {"of": "tea"}), ("call_rum", {"of": "rum"})]
COMMANDS = [("call_tea", "echo 2"), ("call_rum", "echo 3; exit 3")]
Scripts = Mapping[str, Sequence[dict[str, Any]]]
SHELLS = {"Bash": "command", "exec_command": "cmd", "run_shell_command": "command"}
"""The shells of Claude Code, Codex and Gemini CLI, and the name of their argument."""


def wanted_calls(tools: list[dict[str, Any]]) -> list[tuple[str, str, dict[str, Any]]]:
    """The calls that the model makes: key, tool and arguments."""
    offered = [tool["name"] for tool in tools if "name" in tool]
    shell = next((name for name in SHELLS if name in offered), None)
    if shell is None:
        return [(key, "price", arguments) for key, arguments in ARGUMENTS]
    return [(key, shell, {SHELLS[shell]: command}) for key, command in COMMANDS]


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
                "name": name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            for key, name, arguments in wanted_calls(request.get("tools", []))
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


def messages(request: dict[str, Any], scripts: Scripts | None = None) -> dict[str, Any]:
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
            {"type": "tool_use", "id": key, "name": name, "input": arguments}
            for key, name, arguments in wanted_calls(request.get("tools", []))
        ]
    asked = json.dumps(request["messages"][0])
    for about, turns in (scripts or {}).items():
        if about in asked and request.get("tools"):
            said = sum(one["role"] == "assistant" for one in request["messages"])
            content = [turns[min(said, len(turns) - 1)]]
    return {
        "id": f"msg_{len(request['messages'])}",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "content": content,
        "stop_reason": "tool_use" if content[-1]["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 36,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 10,
            "output_tokens": 20,
        },
    }


def generate(request: dict[str, Any]) -> dict[str, Any]:
    """A reply of Gemini's API: thoughts are counted beside the other output."""
    given = [part for one in request["contents"] for part in one["parts"]]
    parts: list[dict[str, Any]] = [{"text": ANSWER}]
    if not any("functionResponse" in part for part in given):
        groups = request.get("tools", [])
        tools = [tool for group in groups for tool in group.get("functionDeclarations", [])]
        parts = [
            {"functionCall": {"id": key, "name": name, "args": arguments}}
            for key, name, arguments in wanted_calls(tools)
        ]
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "modelVersion": "gemini-scripted",
        "responseId": f"gemini-{len(given)}",
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 64,
            "candidatesTokenCount": 12,
            "thoughtsTokenCount": 8,
            "totalTokenCount": 120,
        },
    }


WIRES = {
    "/chat/completions": chat,
    "/responses": responses,
    "/messages": messages,
    ":streamGenerateContent": generate,
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    scripts: Scripts | None = None


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        request = json.loads(self.rfile.read(size) or b"{}")
        path = self.path.partition("?")[0]
        end = next((end for end in WIRES if path.endswith(end)), None)
        if end == "/messages":
            reply = messages(request, self.server.scripts)
        else:
            reply = {"error": "no such address"} if end is None else WIRES[end](request)
        if end in STREAMS and (request.get("stream") or end.startswith(":stream")):
            self._send(200, "text/event-stream", STREAMS[end](reply))
        else:
            self._send(404 if end is None else 200, "application/json", json.dumps(reply).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing."""


@contextmanager
def scripted_models(scripts: Scripts | None = None) -> Iterator[str]:
    """The address of a running server, which may have scripts of its own."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.scripts = scripts
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
