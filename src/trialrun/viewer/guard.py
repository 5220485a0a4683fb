"""What every request passes before a page is made, and the headers that every answer gets.

A page of another site can send requests to this machine, or point its own name at it. Both are
known by their headers: the host is not ours, the origin is not ours, or the browser says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FORM = "application/x-www-form-urlencoded"

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    # Not `no-referrer`: browsers would send the origin of our own forms as `null`.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_METHODS = ("GET", "HEAD", "POST")
_OURS = ("same-origin", "none")  # none: typed, or a bookmark


class Refused(Exception):
    """A request that is not answered: the status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Guard:
    """Lets requests of this machine's browser through, and nothing else."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{host}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _with_ours(message.get("headers", ()))
            await send(message)

        try:
            self._require_ours(scope)
        except Refused as refusal:
            response = PlainTextResponse(f"{refusal}\n", refusal.status, {"connection": "close"})
            await response(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _require_ours(self, scope: Scope) -> None:
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        hosts = given.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Refused(400, "the host of this request is not this viewer")
        if any(origin not in self._origins for origin in given.get("origin", [])):
            raise Refused(403, "another site may not use this viewer")
        if any(site not in _OURS for site in given.get("sec-fetch-site", [])):
            _require_link(scope["method"], given)
        if scope["method"] not in _METHODS:
            raise Refused(405, "only GET, HEAD and POST are answered")
        if scope["method"] == "POST":
            kinds = given.get("content-type", [])
            if len(kinds) != 1 or kinds[0].partition(";")[0].strip().lower() != FORM:
                raise Refused(415, f"a request that writes has the content type {FORM}")


def _require_link(method: str, given: dict[str, list[str]]) -> None:
    """A link on another page may open a page here: nothing of it can be read there."""
    opened = given.get("sec-fetch-mode") == ["navigate"]
    if method != "GET" or not opened or given.get("sec-fetch-dest") != ["document"]:
        raise Refused(403, "another site may not use this viewer")


def _with_ours(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, and ours where it does not have its own."""
    found = list(headers)
    there = {name.lower() for name, _ in found}
    found += [
        (name.encode(), value.encode())
        for name, value in _HEADERS.items()
        if name.encode() not in there
    ]
    return found
