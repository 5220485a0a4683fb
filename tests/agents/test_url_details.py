"""What an address says beside its answer: tokens, tool calls, and OpenAI's APIs by one word."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.scripted_models import chat, responses
from trialrun.agents.base import Question
from trialrun.agents.running.http import HttpAgent
from trialrun.agents.url import UrlSettings
from trialrun.errors import SpecError
from trialrun.model.trace_format import from_plain
from trialrun.spec.load import load_suite


@pytest.fixture
def server():
    """A server that gives the next of `replies` and keeps what it was sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            made.sent.append((self.path, body))
            data = json.dumps(made.replies.pop(0)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.sent, made.replies = [], []
    made.address = f"http://127.0.0.1:{made.server_address[1]}"
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def ask(settings, **question):
    async def asked():
        agent = HttpAgent(settings)
        await agent.start(False)
        try:
            return await agent.ask(Question(input="Q", **question), 20.0)
        finally:
            await agent.close()

    return asyncio.run(asked())


def traced(reply):
    assert reply.failure is None, reply.failure
    return from_plain({**reply.answer, "input": "Q"})[0]


def test_usage_and_tool_calls_are_found_at_their_paths(server):
    calls = [{"name": "price", "args": {"of": "tea"}, "result": 2}, {"name": "look", "args": {}}]
    usage = {"input_tokens": 90, "output_tokens": 10}
    server.replies = [{"text": "A", "meta": {"calls": calls, "usage": usage}, "model": "m"}]
    settings = UrlSettings(
        server.address, answer="text", usage="meta.usage", tool_calls="meta.calls"
    )
    trace = traced(ask(settings))
    assert trace.output == "A"
    assert trace.summed_tokens == 100
    assert trace.tool_call_sequence == ["price", "look"]
    assert (trace.tool_calls[0].tool_args, trace.tool_calls[0].tool_result) == ({"of": "tea"}, 2)
    assert {"tokens", "tool_calls", "tool_args", "answer"} <= trace.recorded
    assert "llm_calls" not in trace.recorded  # the tokens may be of several calls


def test_what_the_reply_does_not_have_is_not_recorded(server):
    server.replies = [{"text": "A"}, {"text": "A", "calls": []}]
    settings = UrlSettings(server.address, answer="text", usage="usage", tool_calls="calls")
    assert traced(ask(settings)).recorded <= {"answer", "timings"}
    without = traced(ask(settings))
    assert "tool_calls" in without.recorded  # the reply says that there were none
    assert without.tool_calls == []


@pytest.mark.parametrize("path", ["/v1", "/v1/chat/completions"])
def test_openai_by_one_word(server, path):
    server.replies = [chat({"messages": [{"role": "tool"}]})]
    history = [{"role": "user", "content": "before"}, {"role": "assistant", "content": "yes"}]
    settings = UrlSettings(server.address + path, api="openai", body={"model": "m"})
    trace = traced(ask(settings, history=history))
    ((where, sent),) = server.sent
    assert where == "/v1/chat/completions"
    assert sent == {"model": "m", "messages": [*history, {"role": "user", "content": "Q"}]}
    assert (trace.output, trace.summed_tokens) == ("5 in all", 120)
    assert "tool_calls" not in trace.recorded  # the server may have called tools by itself


def test_responses_by_one_word(server):
    body = responses({"input": [{"type": "function_call_output"}]})
    search = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "x"}}
    body["output"].insert(0, search)
    server.replies = [body]
    trace = traced(ask(UrlSettings(f"{server.address}/v1", api="responses")))
    ((where, sent),) = server.sent
    assert (where, sent) == ("/v1/responses", {"input": [{"role": "user", "content": "Q"}]})
    assert (trace.output, trace.summed_tokens) == ("5 in all", 120)
    assert trace.tool_call_sequence == ["web_search_call"]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"answer": "x"}, "expected `choices` with a message"),
        ({"error": {"message": "full"}}, "the agent reported an error"),
        ([1], "expected `choices` with a message"),
    ],
)
def test_another_reply_is_an_error(server, reply, message):
    server.replies = [reply]
    assert message in ask(UrlSettings(server.address, api="openai")).failure.message


def test_an_unknown_api_is_a_mistake_in_the_spec(tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "url: http://127.0.0.1:1/v1\napi: chat\ncases:\n- {name: a, input: Q, contains: x}\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError, match="expected one of openai, responses"):
        load_suite(spec)
