"""A store in memory, for runs that the caller does not want on disk.

It is not found by a location: what `--store` names must outlast the command.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from trialrun.store.backends.sqlite import SqliteDatabase
from trialrun.store.connection import Connection, Pool
from trialrun.store.migrations import upgrade
from trialrun.store.store import Store


class MemoryDatabase(SqliteDatabase):
    """One SQLite connection, which threads use in turn: each connection has its own database."""

    name = "memory"
    schemes = ()

    def __init__(self) -> None:
        self.location = "in memory"
        raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        connection = Connection(raw)
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("BEGIN")
        upgrade(connection, None, self.column_types)
        connection.execute("COMMIT")
        self.pool = OneConnection(connection)
        self._held: set[str] = set()

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """No other process can see the run."""
        self._held.add(run_id)
        try:
            yield
        finally:
            self._held.discard(run_id)

    def is_held(self, run_id: str) -> bool:
        """Whether the run is being written."""
        return run_id in self._held

    def reconnect(self) -> None:
        """Nothing to do: no other process can replace what is in memory."""

    def reclaim(self) -> None:
        """Nothing to do: the memory is freed with the store."""


class OneConnection(Pool):
    """A pool of one connection, which stays open after an error: it holds the data."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """The connection, once no other thread uses it."""
        with self._lock:
            yield self._connection

    def close(self) -> None:
        """Free the memory."""
        self._connection.close()


def memory_store() -> Store:
    """An empty store; closing it deletes what it holds."""
    return Store(MemoryDatabase())
