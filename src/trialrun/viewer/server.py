"""The web server of the viewer: uvicorn on 127.0.0.1, with limits on time and connections."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from trialrun.errors import UsageError
from trialrun.util.files import reason

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 200
MOST_AT_ONCE = 100
"""Connections beyond which requests are answered with 503."""

HEADER_SECONDS = 10.0
"""How long a client may take for the headers of a request, and for its body beyond them."""

_LONGEST_HEADERS = 32 * 1024


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol. It closes connections that send requests slowly, and too many of them.

    uvicorn itself limits only how long an idle connection is kept after a request.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new connection."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Bytes of a request, or of several."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Begin the time of a request that is not whole; further bytes do not prolong it."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_watching()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def listen(port: int) -> socket.socket:
    """A socket on this machine's own address; UsageError if the port cannot be used."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
        listening.listen(MOST_CONNECTIONS)  # who opens the address at once waits a moment
    except OSError as error:
        listening.close()
        used = error.errno == errno.EADDRINUSE
        why = "another program uses it; --port 0 finds a free one" if used else reason(error)
        raise UsageError(f"port {port} of {ADDRESS} cannot be used: {why}") from None
    return listening


def hosts_of(port: int) -> frozenset[str]:
    """What a browser on this machine may call the viewer."""
    names = (ADDRESS, "localhost")
    with_port = {f"{name}:{port}" for name in names}
    return frozenset(with_port | set(names)) if port == 80 else frozenset(with_port)


def server_of(app: ASGIApp) -> uvicorn.Server:
    """The server, not started yet."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # requests of others: not news
    settings: dict[str, Any] = {
        "http": BoundedProtocol,
        "ws": "none",
        "lifespan": "off",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "limit_concurrency": MOST_AT_ONCE,
        "timeout_keep_alive": 5,
        "timeout_graceful_shutdown": 2,
        "h11_max_incomplete_event_size": _LONGEST_HEADERS,
    }
    return uvicorn.Server(uvicorn.Config(app, **settings))
