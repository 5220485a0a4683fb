"""A store of every kind of page, its application, and a real server on a free port."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from tests.postgres import postgres_url  # noqa: F401
from tests.viewer.stores import fill
from trialrun.store import open_store
from trialrun.viewer.app import make_app
from trialrun.viewer.server import hosts_of, listen, server_of

HOST = "127.0.0.1:7357"


@contextmanager
def serving(store):
    """The viewer over the store, on a real port: (port, server)."""
    with listen(0) as socket:
        port = socket.getsockname()[1]
        server = server_of(make_app(store, hosts_of(port)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield port, server
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture(scope="package")
def filled(tmp_path_factory):
    """A store that tests only read, or label."""
    with open_store(str(tmp_path_factory.mktemp("viewer") / "runs.db")) as store:
        fill(store)
        yield store


@pytest.fixture(scope="package")
def client(filled):
    return TestClient(make_app(filled, [HOST]), base_url=f"http://{HOST}")
