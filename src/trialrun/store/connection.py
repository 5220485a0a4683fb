"""Connections of either driver: one way to write statements, and a pool from which to take them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

_AT_ONCE = 15
_KEPT_IDLE = 5
_WAIT_SECONDS = 30.0


class Cursor(Protocol):
    """What the cursors of both drivers have in common."""

    @property
    def rowcount(self) -> int:
        """How many rows a statement changed."""

    def fetchall(self) -> list[Any]:
        """The rows, as tuples."""


class Connection:
    """A connection of sqlite3 or psycopg. Statements have `?` where a value goes.

    `mark` is what the driver expects there. Neither `?` nor `%` occurs in a statement otherwise.
    """

    def __init__(self, raw: Any, mark: str = "?") -> None:
        self.raw = raw
        self._mark = mark

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Cursor:
        """Run a statement."""
        cursor: Cursor = self.raw.execute(statement.replace("?", self._mark), values)
        return cursor

    def execute_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of values."""
        self.raw.cursor().executemany(statement.replace("?", self._mark), rows)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows that a query finds, as tuples."""
        return self.execute(statement, values).fetchall()

    def value(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, None without a row."""
        found = self.rows(statement, values)
        return found[0][0] if found else None

    def close(self) -> None:
        """End the connection, and with it a transaction that is open."""
        self.raw.close()


class PoolBusy(Exception):
    """All connections that a pool may open have been in use for a long time."""


class Pool:
    """Connections that threads take and give back; some stay open while they are idle."""

    def __init__(
        self, connect: Callable[[], Connection], is_usable: Callable[[Connection], bool]
    ) -> None:
        """`is_usable` tells, before a connection is used again, whether it still works."""
        self._connect = connect
        self._is_usable = is_usable
        self._kept = _KEPT_IDLE
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(_AT_ONCE)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection that no other thread uses meanwhile; after an error it is closed."""
        if not self._free.acquire(timeout=_WAIT_SECONDS):
            raise PoolBusy(f"{_AT_ONCE} connections are in use, for {_WAIT_SECONDS:g} seconds")
        try:
            connection = self._take()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._give_back(connection)
        finally:
            self._free.release()

    def close(self) -> None:
        """Close what is idle now, and from now on whatever is given back."""
        with self._lock:
            self._kept = 0
        self.close_idle()

    def close_idle(self) -> None:
        """Close what is idle now; others are made when they are needed."""
        with self._lock:
            closing, self._idle = self._idle, []
        for connection in closing:
            connection.close()

    def _take(self) -> Connection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect()
            if self._is_usable(connection):
                return connection
            connection.close()

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            keep = len(self._idle) < self._kept
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()
