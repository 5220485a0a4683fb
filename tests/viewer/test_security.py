"""The viewer answers this machine's browser, and no other page: real requests to a real server."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
import time
import zlib
from contextlib import suppress

import pytest

from tests.viewer.conftest import serving
from tests.viewer.stores import JUDGED, SECOND
from trialrun.viewer import server as server_module
from trialrun.viewer.bodies import LONGEST_BODY
from trialrun.viewer.guard import FORM, POLICY, Guard


@pytest.fixture(scope="module")
def port(filled):
    with serving(filled) as (number, _):
        yield number


def exchange(port: int, data: bytes, seconds: float = 10) -> bytes:
    """Send these bytes, and read until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all was sent
            connection.sendall(data)
        found = b""
        with suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                found += chunk
        return found


def request(port: int, *headers: str, target="/", method="GET", body=b"", host=True) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *headers, "Connection: close"]
    if host:
        lines.insert(1, f"Host: 127.0.0.1:{port}")
    return exchange(port, "\r\n".join([*lines, "", ""]).encode("latin-1") + body)


def status(response: bytes) -> int:
    return int(response.split(b" ", 2)[1])


def test_our_own_names_are_answered(port):
    assert status(request(port)) == 200
    assert status(request(port, f"Host: localhost:{port}", host=False)) == 200
    assert status(request(port, f"Origin: http://127.0.0.1:{port}")) == 200


@pytest.mark.parametrize(
    "headers",
    [
        ["Host: evil.example"],
        ["Host: 127.0.0.1"],
        ["Host: 127.0.0.1:{port}.evil.example"],
        ["Host: evil.example:{port}"],
        ["Host: 127.0.0.1:{port}", "Host: 127.0.0.1:{port}"],
        ["Host: 127.0.0.1:{port}", "Host: evil.example"],
        ["Host:"],
        [],
    ],
)
def test_a_foreign_host_two_hosts_or_none_are_400(port, headers):
    given = [header.format(port=port) for header in headers]
    assert status(request(port, *given, host=False)) == 400


@pytest.mark.parametrize("hosts", [[], [b"127.0.0.1:1"] * 2, [b"127.0.0.1:1", b"evil.example"]])
def test_the_guard_itself_refuses_two_hosts_or_none(hosts):
    """The web server does so before it: this is for another one, or a later version."""
    sent = []

    async def send(message):
        sent.append(message)

    async def page(scope, receive, send):
        raise AssertionError("the request was let through")

    scope = {"type": "http", "method": "GET", "headers": [(b"host", host) for host in hosts]}
    asyncio.run(Guard(page, ["127.0.0.1:1"])(scope, None, send))
    assert sent[0]["status"] == 400


@pytest.mark.parametrize(
    "header",
    [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
        "Origin: https://127.0.0.1:{port}",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script",
    ],
)
def test_what_another_site_asks_for_is_403(port, header):
    assert status(request(port, header.format(port=port))) == 403


def test_a_link_on_another_site_opens_a_page(port):
    link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document"
    assert status(request(port, link)) == 200
    posted = [link, f"Content-Type: {FORM}", "Content-Length: 0"]
    assert status(request(port, *posted, method="POST", target=f"/runs/{JUDGED}/labels")) == 403


@pytest.mark.parametrize(
    "target",
    [
        "/../../etc/passwd",
        "/assets/../../../etc/passwd",
        "/assets/..%2f..%2fapp.py",
        "/assets/%2e%2e/app.py",
        "/assets//etc/passwd",
        "/assets/page.css%00.html",
        "/assets/page.css/",
        "/runs/..",
        "/runs/%2e%2e%2f%2e%2e",
        f"/runs/{SECOND}/cases/-1",
        f"/runs/{SECOND}/cases/999999999999999999999",
        f"/runs/{SECOND}/cases/1e3",
        "/runs/%3Cscript%3Ealert(1)%3C/script%3E",
        "/nothing",
    ],
)
def test_path_tricks_are_404(port, target):
    response = request(port, target=target)
    assert status(response) == 404, response[:300]
    assert b"<script>alert" not in response and b"root:" not in response


def test_every_answer_has_the_policy_and_is_not_sniffed(port):
    for target in ("/", f"/runs/{SECOND}", "/assets/page.js", "/nothing"):
        head = request(port, target=target).partition(b"\r\n\r\n")[0].decode().lower()
        assert f"content-security-policy: {POLICY.lower()}" in head, target
        for line in (
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ):
            assert line in head, (target, line)
    refused = request(port, "Origin: null").lower()
    assert b"content-security-policy" in refused
    for rule in ("default-src 'none'", "frame-ancestors 'none'", "script-src 'self'"):
        assert rule in POLICY
    assert "unsafe" not in POLICY


def test_content_types_are_exact(port):
    kinds = {
        "/": "text/html; charset=utf-8",
        "/assets/page.css": "text/css; charset=utf-8",
        "/assets/viewer.js": "text/javascript; charset=utf-8",
        f"/runs/{SECOND}/version": "text/plain; charset=utf-8",
    }
    for target, kind in kinds.items():
        head = request(port, target=target).partition(b"\r\n\r\n")[0].decode()
        assert f"content-type: {kind}\r\n" in head + "\r\n"


# Writing


def post(port, body: bytes, *headers: str, length=True) -> bytes:
    given = [f"Content-Type: {FORM}", *headers]
    if length:
        given.append(f"Content-Length: {len(body)}")
    return request(port, *given, method="POST", target=f"/runs/{JUDGED}/labels", body=body)


def test_nothing_is_written_without_the_token(port, filled):
    page = request(port, target=f"/runs/{JUDGED}/judge").decode()
    token = re.search(r'name="token" value="([^"]+)"', page)[1]
    fields = "position=0&attempt=1&check=llm_judge&turn=0&label=agree&rule=x"
    for given in ("", "token=&", "token=wrong&", f"token={token[:-1]}&", f"token={token}x&"):
        assert status(post(port, f"{given}{fields}".encode())) == 403
    assert filled.labels.of([JUDGED]) == {}


def test_a_get_never_writes(port):
    assert status(request(port, target=f"/runs/{JUDGED}/labels?label=agree")) == 405
    assert status(request(port, method="DELETE", target=f"/runs/{JUDGED}")) == 405


@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", "", FORM + "x"]
)
def test_a_post_of_another_content_type_is_415(port, kind):
    headers = [f"Content-Type: {kind}"] if kind else []
    response = request(
        port,
        *headers,
        "Content-Length: 2",
        method="POST",
        target=f"/runs/{JUDGED}/labels",
        body=b"{}",
    )
    assert status(response) == 415


def test_a_body_that_is_too_long_is_413(port):
    assert status(post(port, b"a" * (LONGEST_BODY + 1))) == 413
    assert status(post(port, b"", "Content-Length: 99999999999", length=False)) == 413
    assert status(post(port, b"", f"Content-Length: {'9' * 30}", length=False)) == 400


def test_a_long_body_without_a_length_is_413(port):
    part = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
    body = part * (LONGEST_BODY // 0x10000 + 2) + b"0\r\n\r\n"
    assert status(post(port, body, "Transfer-Encoding: chunked", length=False)) == 413


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_compression_bomb_is_413_in_bounded_memory(port, coding):
    import tracemalloc

    zeros = bytes(64 * 1024 * 1024)
    bomb = gzip.compress(zeros) if coding == "gzip" else zlib.compress(zeros)
    del zeros
    tracemalloc.start()
    try:
        assert status(post(port, bomb, f"Content-Encoding: {coding}")) == 413
        assert tracemalloc.get_traced_memory()[1] < 8 * LONGEST_BODY
    finally:
        tracemalloc.stop()


def test_a_compressed_body_that_is_cut_off_or_damaged_is_400(port):
    whole = gzip.compress(b"token=x&label=agree")
    assert status(post(port, whole[:-6], "Content-Encoding: gzip")) == 400
    assert status(post(port, b"\x1f\x8b" + b"x" * 40, "Content-Encoding: gzip")) == 400
    assert status(post(port, b"x", "Content-Encoding: br")) == 415
    assert status(post(port, whole, "Content-Encoding: gzip")) == 403  # whole, but no token


def test_a_form_with_too_many_fields_is_400(port):
    assert status(post(port, b"&".join([b"a=1"] * 200))) == 400
    assert status(post(port, b"\xff\xfe=1")) == 400


# Slow, and too many


def test_slow_headers_and_bodies_are_closed(filled, monkeypatch):
    monkeypatch.setattr(server_module, "HEADER_SECONDS", 0.3)
    with serving(filled) as (port, _):
        slow = [
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1",
            b"",
            f"POST /runs/{JUDGED}/labels HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Content-Type: {FORM}\r\nContent-Length: 500\r\n\r\ntoken=".encode(),
        ]
        for beginning in slow:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                connection.sendall(beginning)
                deadline = time.monotonic() + 20
                closed = False
                while not closed and time.monotonic() < deadline:
                    try:
                        connection.sendall(b"a" if beginning else b"")
                        connection.settimeout(0.1)
                        closed = connection.recv(1000) == b""
                    except TimeoutError:
                        continue
                    except (ConnectionResetError, BrokenPipeError):
                        closed = True
                assert closed, beginning
        assert status(request(port)) == 200


def test_a_flood_of_connections_is_pushed_back(filled, monkeypatch):
    monkeypatch.setattr(server_module, "MOST_AT_ONCE", 4)
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 8)
    with serving(filled) as (port, server):
        idle = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(6)]
        try:
            while len(server.server_state.connections) < 6:
                time.sleep(0.01)
            assert status(request(port)) == 503
            idle += [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(10)]
            idle[-1].settimeout(5)  # sooner than slow headers are closed
            with suppress(ConnectionResetError):
                assert idle[-1].recv(100) == b""
            assert len(server.server_state.connections) <= 9
        finally:
            for connection in idle:
                connection.close()
        while server.server_state.connections:
            time.sleep(0.01)
        assert status(request(port)) == 200


def test_headers_that_are_too_long_are_refused(port):
    assert status(request(port, f"X: {'a' * 2_000_000}")) in (400, 431)
