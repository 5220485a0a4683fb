"""Agents at an HTTP address: a local server that misbehaves in every known way."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from trialrun.agents.base import Question
from trialrun.agents.running.http import HttpAgent
from trialrun.agents.url import UrlSettings
from trialrun.errors import PluginError
from trialrun.model.trace import TraceStatus

CUT_OFF = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.command, self.path, headers, body))
        self.server.answer(self)

    do_GET = do_PUT = do_POST

    def reply(self, body, status=200, kind="application/json", **headers):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may have closed the connection
            self.wfile.write(data)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    made.seen = []
    thread = threading.Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def ask(server):
    """Asks the server, which answers with the given function."""

    def run(reply, text="hello", limit=20.0, path="/chat", **spec):
        server.answer = reply
        url = f"http://127.0.0.1:{server.server_port}{path}"

        async def once():
            agent = HttpAgent(UrlSettings(url=url, **spec))
            await agent.start(takes_turns=False)
            try:
                return await agent.ask(Question(input=text, case={"name": "a"}), limit)
            finally:
                await agent.close()

        return asyncio.run(once())

    return run


def test_the_question_is_posted_as_json(ask, server):
    reply = ask(lambda request: request.reply('{"output": "hi", "steps": []}'), "ünïcode")
    assert reply.answer == {"output": "hi", "steps": []}
    method, path, headers, body = server.seen[0]
    assert (method, path) == ("POST", "/chat")
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == {"input": "ünïcode", "history": [], "case": {"name": "a"}}


def test_method_headers_body_and_answer_as_the_spec_says(ask, server, monkeypatch):
    monkeypatch.setenv("AGENT_KEY", "very-secret-value")
    reply = ask(
        lambda request: request.reply('{"choices": [{"message": {"content": "deep"}}]}'),
        method="PUT",
        headers={"Authorization": "Bearer ${AGENT_KEY}"},
        body={"messages": [{"role": "user", "content": "Q: {{input}}"}], "past": "{{history}}"},
        answer="choices.0.message.content",
        path="/{{case.name}}",
    )
    assert reply.answer == {"output": "deep"}
    method, path, headers, body = server.seen[0]
    assert (method, path) == ("PUT", "/a")
    assert headers["authorization"] == "Bearer very-secret-value"
    assert json.loads(body) == {
        "messages": [{"role": "user", "content": "Q: hello"}],
        "past": [],
    }


def test_a_get_carries_the_question_in_the_address(ask, server):
    ask(
        lambda request: request.reply("ok", kind="text/plain"),
        "a b&c",
        method="GET",
        path="/?q={{input}}",
    )
    assert server.seen[0][:2] == ("GET", "/?q=a%20b%26c")


def test_plain_text_and_a_json_text_are_answers(ask):
    assert ask(lambda request: request.reply("hi", kind="text/plain")).answer == {"output": "hi"}
    assert ask(lambda request: request.reply('"hi"')).answer == {"output": "hi"}


@pytest.mark.parametrize("kind", ["text/plain", "", "application/json", "text/json"])
def test_json_is_read_whatever_its_content_type(ask, kind):
    body = '{"output": "no", "steps": [{"type": "reasoning", "reasoning": "30 days"}]}'
    reply = ask(lambda request: request.reply(body, kind=kind))
    assert reply.answer == json.loads(body)


def test_a_missing_key_is_reported_before_anything_is_sent(ask, server):
    with pytest.raises(PluginError, match="SURELY_NOT_SET is not set"):
        ask(lambda request: request.reply("{}"), headers={"X": "${SURELY_NOT_SET}"})
    assert server.seen == []


@pytest.mark.parametrize(
    ("answer", "message", "is_transient"),
    [
        (lambda r: r.reply("down", 500), 'the address answered 500: "down"', True),
        (lambda r: r.reply("", 503), "the address answered 503", True),
        (lambda r: r.reply("no", 400), "the address answered 400", False),
        (lambda r: r.reply("no", 401), "the address answered 401", False),
        (lambda r: r.reply("", 302, Location="/x"), "the address answered 302", False),
        (lambda r: r.reply("", 204), "the address answered 204", False),
        (lambda r: r.reply("", 205), "the address answered 205", False),
        (lambda r: r.reply("30 days", 206, "text/plain"), "the address answered 206", False),
        (lambda r: r.reply("accepted", 202, "text/plain"), "the address answered 202", False),
        (lambda r: r.reply("", kind="text/plain"), "200 without a body", False),
        (lambda r: r.reply("", kind=""), "200 without a body", False),
        (lambda r: r.reply(""), "200 without a body", False),
        (lambda r: r.reply(" \n", kind="text/plain"), "no text in it", False),
        (lambda r: r.reply("<html>30 days", kind="text/plain"), "an HTML page", False),
        (lambda r: r.reply("<html>30 days", kind=""), "an HTML page", False),
        (lambda r: r.reply('{"error": "quota"}', kind="text/plain"), "error: quota", False),
        (lambda r: r.reply('{"error": "quota"}', kind=""), "error: quota", False),
        (lambda r: r.reply('{"error": "quota"}'), "error: quota", False),
        (lambda r: r.reply('data: {"output": "30"}', kind="text/plain"), "one JSON object", False),
        (lambda r: r.reply("<p>", kind="text/html"), "the reply is text/html", False),
        (lambda r: r.reply("{cut"), "the reply is not JSON", False),
        (lambda r: r.reply("[1]"), "expected an object with `output`", False),
        (lambda r: r.reply('{"answer": "x"}'), "set `answer:`", False),
        (lambda r: r.reply('{"output": 5, "output": 6}'), "`output` is given twice", False),
        (lambda r: r.reply(b"\xff\xfe"), "not UTF-8", False),
        (lambda r: r.reply("[" * 100_000), "the reply is not JSON", False),
        (lambda r: r.reply(b"x" * 40_000_000, kind="text/plain"), "more than 34 MB", False),
        (
            lambda r: r.reply(gzip.compress(bytes(60_000_000)), Content_Encoding="gzip"),
            "more than 34 MB",
            False,
        ),
        (lambda r: r.connection.close(), "cannot be reached", True),
        (lambda r: r.wfile.write(CUT_OFF), "cannot be reached", True),
        (lambda r: r.wfile.write(b"nonsense\r\n\r\n"), "cannot be reached", True),
    ],
)  # fmt: skip
def test_why_there_is_no_answer(ask, answer, message, is_transient):
    reply = ask(answer)
    assert reply.answer is None
    assert message in reply.failure.message
    assert reply.failure.transient is is_transient


def test_retry_after_is_read_as_seconds_and_as_a_date(ask):
    from email.utils import formatdate

    reply = ask(lambda r: r.reply("", 429, Retry_After="3"))
    assert (reply.failure.transient, reply.failure.retry_after) == (True, 3.0)
    date = formatdate(time.time() + 60, usegmt=True)
    reply = ask(lambda r: r.reply("", 429, Retry_After=date))
    assert 50 < reply.failure.retry_after <= 60
    assert ask(lambda r: r.reply("", 429, Retry_After="soon")).failure.retry_after is None


def test_the_reply_lacks_the_path_of_the_answer(ask):
    reply = ask(lambda r: r.reply('{"a": {"b": 1}}'), answer="a.c")
    assert reply.failure.message == "the reply has no `a.c`: `c` is not in b"
    assert ask(lambda r: r.reply('{"a": {"b": [1]}}'), answer="a.b").answer == {"output": [1]}
    assert "null" in ask(lambda r: r.reply('{"a": {"b": null}}'), answer="a.b").failure.message
    assert (
        "`9` is not in list" in ask(lambda r: r.reply('{"a": [1]}'), answer="a.9").failure.message
    )


def test_a_slow_address_times_out(ask):
    reply = ask(lambda request: time.sleep(3), limit=0.5)
    assert reply.failure.status is TraceStatus.TIMEOUT
    assert reply.failure.message == "no answer after 0.5 s"


def test_a_refused_connection_is_transient():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    async def once():
        agent = HttpAgent(UrlSettings(url=f"http://127.0.0.1:{port}/"))
        await agent.start(takes_turns=False)
        try:
            return await agent.ask(Question(input="x"), 5)
        finally:
            await agent.close()

    reply = asyncio.run(once())
    assert reply.failure.transient
    assert "cannot be reached" in reply.failure.message
