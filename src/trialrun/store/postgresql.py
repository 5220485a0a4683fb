"""Runs in a PostgreSQL database."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import URL, Connection, NullPool, create_engine, func, select, text
from sqlalchemy.exc import DBAPIError

from trialrun.errors import StoreError, UsageError
from trialrun.store.database import Database

_CONNECT_SECONDS = 10
_PATIENCE = 0.5


class PostgresqlDatabase(Database):
    """A database on a server; tables of others in it are left alone."""

    def __init__(self, url: URL) -> None:
        self.location = _printable(url)
        url = url.set(drivername="postgresql+psycopg")
        if "connect_timeout" not in url.query:
            url = url.update_query_dict({"connect_timeout": str(_CONNECT_SECONDS)})
        try:
            # A server closes idle connections: each is tried before it is used again.
            self.engine = self.writer = create_engine(url, pool_pre_ping=True)
            # A hold lives as long as its connection, which must therefore not go back to a pool.
            self._own = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        except ImportError as error:
            raise UsageError(
                f"the store {self.location} needs psycopg ({error}): "
                "pip install 'trialrun[postgresql]'"
            ) from None

    def _require_new(self, create: bool) -> None:
        """A reader makes nothing."""
        if not create:
            raise UsageError(
                f"no runs are recorded here: {self.location} has no tables of trialrun; "
                "`trialrun run` makes them"
            )

    def _lock_schema(self, connection: Connection) -> None:
        """Two processes that make the same table at once would otherwise both fail."""
        connection.execute(select(func.pg_advisory_xact_lock(_key("schema"))))

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """Keep the run for this process, by a lock of the server on a connection of its own."""
        with self.telling(StoreError, "reached"):
            connection = self._own.connect()
        try:
            with self.telling(StoreError, "locked"):
                held = _locked(connection, _key(run_id))
            if not held:
                raise self.held_already(run_id)
            try:
                yield
            finally:
                # The end of the connection would reach the server later than the next who asks.
                with suppress(DBAPIError):  # a connection that was lost has given it back
                    connection.execute(select(func.pg_advisory_unlock(_key(run_id))))
        finally:
            connection.close()

    def is_held(self, run_id: str) -> bool:
        """Whether the server has the lock of the run; asked without taking it."""
        key = _key(run_id)
        with self.reading() as connection:
            found = connection.scalar(
                text(
                    "SELECT count(*) FROM pg_locks JOIN pg_database ON oid = database"
                    " WHERE datname = current_database() AND locktype = 'advisory' AND granted"
                    " AND objsubid = 1 AND classid::bigint = :high AND objid::bigint = :low"
                ),
                {"high": key >> 32 & 0xFFFFFFFF, "low": key & 0xFFFFFFFF},
            )
        return bool(found)

    def reclaim(self) -> None:
        """Nothing to do: the server does it by itself."""


def _locked(connection: Connection, key: int) -> bool:
    """Take the lock. The server may need a moment to notice that a killed process is gone."""
    deadline = time.monotonic() + _PATIENCE
    while not connection.scalar(select(func.pg_try_advisory_lock(key))):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _printable(url: URL) -> str:
    shown = url.set(drivername="postgresql")
    if "password" in shown.query:
        shown = shown.update_query_dict({"password": "***"})
    return shown.render_as_string(hide_password=True)


def _key(name: str) -> int:
    """The number of a lock: the server's locks have no names, and others may use some too."""
    digest = hashlib.sha256(f"trialrun {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
