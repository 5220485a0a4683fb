"""Local servers with the protocols of OpenAI (chat completions, responses) and Anthropic.

Replies are scripted one by one; requests are kept.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERDICT = '{"rationale": "it says so", "score": %s}'


class Reply:
    """One reply: `arguments` is the JSON text of one or several verdicts; else a raw body."""

    def __init__(
        self, *arguments, status=200, headers=(), body=None, text=None, delay=0.0, cut=False
    ):
        self.arguments = arguments
        self.status = status
        self.headers = dict(headers)
        self.body = body
        self.text = text
        self.delay = delay
        self.cut = cut


def score(number):
    """A verdict with this score, written unchanged."""
    return Reply(VERDICT % number)


class Server:
    """Answers with the script, whose last reply repeats, or with a function of the request."""

    def __init__(self, *script, answer=None):
        self.script = list(script)
        self.answer = answer
        self.asked = []
        self.times = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                owner._serve(self)

            def log_message(self, *arguments):
                """Log nothing to stderr."""

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request, address):
                """Ignore a client that closed the connection."""

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()

    def _serve(self, handler):
        request = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self._lock:
            self.asked.append(request)
            self.times.append(time.monotonic())
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            reply = self.answer(request) if self.answer else self.script[0]
            if len(self.script) > 1:
                del self.script[0]
        try:
            time.sleep(reply.delay)
            self._reply(handler, request, reply)
        finally:
            with self._lock:
                self._at_once -= 1

    def _reply(self, handler, request, reply):
        body = reply.body
        if body is None:
            message = _PROTOCOLS[handler.path.partition("?")[0].rpartition("/")[2]]
            body = message(request["model"], reply) if reply.status == 200 else '{"error": "busy"}'
        data = body.encode() if isinstance(body, str) else body
        handler.send_response(reply.status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(data) + (100 if reply.cut else 0)))
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)
        if reply.cut:
            handler.close_connection = True
            handler.wfile.flush()
            handler.connection.close()


def _openai(model, reply):
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "give_verdict", "arguments": arguments},
        }
        for number, arguments in enumerate(reply.arguments)
    ]
    message = {"role": "assistant", "content": reply.text}
    if calls:
        message["tool_calls"] = calls
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if calls else "stop",
                }
            ],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
        }
    )


def _anthropic(model, reply):
    """The input of a tool is inline JSON: the arguments are inserted unchanged."""
    blocks = [
        f'{{"type": "tool_use", "id": "toolu_{number}", "name": "give_verdict", '
        f'"input": {arguments}}}'
        for number, arguments in enumerate(reply.arguments)
    ]
    if reply.text is not None:
        blocks.insert(0, json.dumps({"type": "text", "text": reply.text}))
    content = ", ".join(blocks)
    return (
        f'{{"id": "msg_1", "type": "message", "role": "assistant", "model": {json.dumps(model)}, '
        f'"content": [{content}], "stop_reason": "tool_use", "stop_sequence": null, '
        '"usage": {"input_tokens": 1000, "output_tokens": 100}}'
    )


def _responses(model, reply):
    """OpenAI's newer protocol, which `openai:` models use by default."""
    output = [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": "give_verdict",
            "arguments": arguments,
            "status": "completed",
        }
        for number, arguments in enumerate(reply.arguments)
    ]
    if reply.text is not None:
        text = {"type": "output_text", "text": reply.text, "annotations": []}
        message = {"id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
        output.insert(0, {"type": "message", **message})
    return json.dumps(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1_790_000_000,
            "status": "completed",
            "model": model,
            "output": output,
            "parallel_tool_calls": False,
            "tool_choice": "required",
            "tools": [],
            "usage": {
                "input_tokens": 1000,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 100,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 1100,
            },
        }
    )


_PROTOCOLS = {"messages": _anthropic, "completions": _openai, "responses": _responses}
