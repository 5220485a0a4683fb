"""Runs in a PostgreSQL database."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from trialrun.errors import StoreError, UsageError
from trialrun.store.address import Address, read_address
from trialrun.store.backends.base import Database
from trialrun.store.connection import Connection, Pool
from trialrun.store.migrations import ColumnTypes, counted_in, counted_out

_CONNECT_SECONDS = 10
_PATIENCE = 0.5
_RESTART_SECONDS = 10.0

# Runs of before are numbered by their time, which is all that is known of their order. Those that
# version 0.1 inserts get a number too: the column has a default.
_NUMBER_RUNS = (
    "ALTER TABLE trialrun_runs ADD COLUMN number BIGINT",
    "CREATE SEQUENCE trialrun_runs_number OWNED BY trialrun_runs.number",
    """
    UPDATE trialrun_runs SET number = earlier.place FROM (
        SELECT id, row_number() OVER (ORDER BY created_at, id) AS place FROM trialrun_runs
    ) AS earlier WHERE earlier.id = trialrun_runs.id
    """,
    "SELECT setval('trialrun_runs_number', (SELECT count(*) + 1 FROM trialrun_runs), false)",
    "ALTER TABLE trialrun_runs ALTER COLUMN number SET DEFAULT nextval('trialrun_runs_number')",
)

_TALLIES = (
    f"""
    CREATE FUNCTION trialrun_count_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP <> 'INSERT' THEN {counted_out()} END IF;
        IF TG_OP <> 'DELETE' THEN {counted_in()} END IF;
        RETURN NULL;
    END $$
    """,
    "CREATE TRIGGER trialrun_attempt_counted AFTER INSERT OR UPDATE OR DELETE"
    " ON trialrun_attempts FOR EACH ROW EXECUTE FUNCTION trialrun_count_attempt()",
)


class PostgresqlDatabase(Database):
    """A database on a server; tables of others in it are left alone."""

    name = "postgresql"
    schemes = ("postgresql", "postgres", "postgresql+psycopg")
    column_types = ColumnTypes(
        "TIMESTAMP WITH TIME ZONE",
        "DOUBLE PRECISION",
        "BYTEA",
        {"0003": _NUMBER_RUNS, "0004": _TALLIES},
    )
    run_number = "number"
    length_of = "octet_length"
    # Not to_regclass: in an open transaction it may not know a table that another one just made.
    find_table = (
        "SELECT relname FROM pg_catalog.pg_class"
        " WHERE relname = ? AND pg_catalog.pg_table_is_visible(oid)"
    )

    def __init__(self, address: Address) -> None:
        self.location = str(address)
        try:
            import psycopg
        except ImportError as error:
            raise UsageError(
                f"the store {self.location} needs psycopg ({error}): pip install '.[postgresql]'"
            ) from None
        self.driver_error = psycopg.Error
        self.conflict_error = psycopg.IntegrityError
        self._options = {"connect_timeout": _CONNECT_SECONDS, **address.connection_options()}
        # A server closes idle connections: each is tried before it is used again.
        self.pool = Pool(self._connect, self._answers)
        self._holds: dict[str, Connection] = {}  # run → the connection that its lock lasts with

    @classmethod
    def at(cls, location: str, create: bool) -> Database:
        try:
            address = read_address(location)
        except ValueError:
            # The text itself is not shown: which part of it is a password is not known.
            raise UsageError(
                "the store's address cannot be read; expected postgresql:// and then "
                "user:password@host:port/database, with special characters as %XX"
            ) from None
        return cls(address)

    def _connect(self) -> Connection:
        """A new connection, which begins no transaction by itself."""
        import psycopg
        from psycopg.conninfo import make_conninfo

        address = make_conninfo(**self._options)
        return Connection(psycopg.connect(address, autocommit=True), mark="%s")

    def _answers(self, connection: Connection) -> bool:
        try:
            connection.execute("SELECT 1")
        except self.driver_error:
            return False
        return True

    def _is_lost(self, error: Exception) -> bool:
        import psycopg

        # 57P: the server shuts down or starts; 08: the connection failed; none: no answer at all.
        state = getattr(error, "sqlstate", None)
        return isinstance(error, psycopg.OperationalError) and (
            state is None or state.startswith(("57P", "08"))
        )

    def recovered(self) -> bool:
        """Wait for a server that restarts, and take the locks again that were lost with it."""
        deadline = time.monotonic() + _RESTART_SECONDS
        while True:
            self.pool.close_idle()
            try:
                self._connect().close()
                return all(self._held_again(run_id) for run_id in self._holds)
            except self.driver_error:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.2)

    def _held_again(self, run_id: str) -> bool:
        """Whether this process has the lock of the run; not if another one took it meanwhile."""
        if self._answers(self._holds[run_id]):
            return True
        connection = self._connect()
        if not _locked(connection, _key(run_id)):
            connection.close()
            return False
        self._holds[run_id].close()
        self._holds[run_id] = connection
        return True

    def moment(self, value: datetime) -> datetime:
        """The server keeps the time zone."""
        return value.astimezone(UTC)

    def _require_new(self, create: bool) -> None:
        """A reader makes nothing."""
        if not create:
            raise UsageError(
                f"no runs are recorded here: {self.location} has no tables of trialrun; "
                "`trialrun run` makes them"
            )

    def _lock_schema(self, connection: Connection) -> None:
        """Two processes that make the same table at once would otherwise both fail."""
        connection.execute("SELECT pg_advisory_xact_lock(?)", [_key("schema")])

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """Keep the run for this process, by a lock of the server on a separate connection.

        The lock lasts as long as its connection, which therefore does not come from the pool.
        """
        with self.errors_as(StoreError, "reached"):
            connection = self._connect()
        try:
            with self.errors_as(StoreError, "locked"):
                held = _locked(connection, _key(run_id))
            if not held:
                raise self.held_already(run_id)
            self._holds[run_id] = connection
            try:
                yield
            finally:
                connection = self._holds.pop(run_id)
                # The server may notice the end of the connection only after the next one asks.
                with suppress(self.driver_error):  # a connection that was lost has given it back
                    connection.execute("SELECT pg_advisory_unlock(?)", [_key(run_id)])
        finally:
            connection.close()

    def is_held(self, run_id: str) -> bool:
        """Whether the server has the lock of the run; asked without taking it."""
        key = _key(run_id)
        with self.reading() as connection:
            found = connection.value(
                "SELECT count(*) FROM pg_locks JOIN pg_database ON oid = database"
                " WHERE datname = current_database() AND locktype = 'advisory' AND granted"
                " AND objsubid = 1 AND classid::bigint = ? AND objid::bigint = ?",
                [key >> 32 & 0xFFFFFFFF, key & 0xFFFFFFFF],
            )
        return bool(found)

    def reclaim(self) -> None:
        """Nothing to do: the server does it by itself."""


def _locked(connection: Connection, key: int) -> bool:
    """Take the lock. The server may need a moment to notice that a killed process is gone."""
    deadline = time.monotonic() + _PATIENCE
    while not connection.value("SELECT pg_try_advisory_lock(?)", [key]):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _key(name: str) -> int:
    """The number of a lock: the server's locks have no names, and others may use some too."""
    digest = hashlib.sha256(f"trialrun {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
