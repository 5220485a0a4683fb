"""What the two databases share: transactions, errors in one sentence, the schema's version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from typing import Any, ClassVar

from trialrun.errors import StoreError, StoreWriteError, UsageError
from trialrun.store.connection import Connection, Pool, PoolBusy
from trialrun.store.migrations import (
    KNOWN_BY_TABLE,
    REVISIONS,
    VERSION_TABLE,
    ColumnTypes,
    upgrade,
)


class Conflict(Exception):
    """A row is there already, or refers to one that is not there."""


class ConnectionLost(StoreWriteError):
    """The server went away, perhaps for a moment; the rows may or may not be written."""


class Database(ABC):
    """A database with a pool of connections; `location` is safe to print.

    The base of every backend, which is named like its file. `schemes` are the beginnings of the
    locations that it opens: `postgresql` is `postgresql://…`, "" the path of a file.
    """

    name: ClassVar[str]
    schemes: ClassVar[tuple[str, ...]]

    location: str
    pool: Pool
    driver_error: type[Exception]
    conflict_error: type[Exception]

    begin_writing: ClassVar[str] = "BEGIN"
    column_types: ClassVar[ColumnTypes]
    find_table: ClassVar[str]
    """A query with the name of a table, which finds something if the table is there."""
    run_number: ClassVar[str]
    """The column that grows with every run that is inserted: clocks go back, and differ."""
    length_of: ClassVar[str] = "length"
    """The function that counts the bytes of a value without reading it."""

    @classmethod
    @abstractmethod
    def at(cls, location: str, create: bool) -> Database:
        """The database at this location, not opened yet; UsageError if it cannot be one."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the store."""
        with self.errors_as(StoreError, "read"), self._transaction("BEGIN") as connection:
            try:
                yield connection
            except ValueError as error:  # a time or a JSON text that is none any more
                raise StoreError(
                    f"the store {self.location} cannot be read: a value is damaged: {error}"
                ) from None

    def pages(self, query: str, values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
        """The rows of a query of attempts, `size` at a time.

        Its last values are the position and the number after which it begins; its rows begin with
        both, and are in this order.
        """
        last = (-1, -1)
        while True:
            with self.reading() as connection:
                rows = connection.rows(query, [*values, *last])
            yield from rows
            if len(rows) < size:
                return
            last = rows[-1][:2]

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is on disk when it has ended; after an error nothing of it is.

        `Conflict` is left to the caller, who can name the row.
        """
        with (
            self.errors_as(StoreWriteError, "written"),
            self._transaction(self.begin_writing) as connection,
        ):
            try:
                yield connection
            except self.conflict_error as error:
                raise Conflict(str(error)) from None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        with self.pool.connection() as connection:
            connection.execute(begin)
            try:
                yield connection
            except BaseException:
                # The pool closes the connection, too; its end may reach a server much later.
                with suppress(self.driver_error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def errors_as(self, kind: type[StoreError], done: str) -> Iterator[None]:
        """Turn an error of the driver into one sentence that names the store."""
        try:
            yield
        except (self.driver_error, PoolBusy) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            if kind is StoreWriteError and self._is_lost(error):
                kind = ConnectionLost
            raise kind(f"the store {self.location} cannot be {done}: {reason}") from None

    def _is_lost(self, error: Exception) -> bool:
        """Whether the error says that the connection is gone."""
        return False

    def recovered(self) -> bool:
        """Wait a moment for a server that is starting again; whether it is there, and all is held.

        A file does not come back.
        """
        return False

    def prepare(self, create: bool) -> None:
        """Make the tables what this trialrun expects; refuse those of a newer one untouched."""
        with self.reading() as connection:
            revision = self._revision(connection)
        if revision is None:
            self._require_new(create)
        if revision != REVISIONS[-1]:
            with (
                self.errors_as(StoreError, "prepared"),
                self._transaction(self.begin_writing) as connection,
            ):
                self._lock_schema(connection)
                # The process that had the lock before may have migrated, or be a newer trialrun.
                upgrade(connection, self._revision(connection), self.column_types)

    def _revision(self, connection: Connection) -> str | None:
        """The schema's version, None if there is no schema."""
        if connection.value(self.find_table, [VERSION_TABLE]) is None:
            return None
        revision = connection.value(f"SELECT version_num FROM {VERSION_TABLE}")
        if revision not in REVISIONS:
            raise StoreError(
                f"the store {self.location} was made by a newer trialrun: its version is "
                f"{revision}, the newest known here is {REVISIONS[-1]}; update trialrun to use it"
            )
        for step, table in KNOWN_BY_TABLE:
            if connection.value(self.find_table, [table]) is not None:
                return step
        return str(revision)

    def held_already(self, run_id: str) -> UsageError:
        """The error of a second process that wants to write a run."""
        return UsageError(f"run {run_id} is being written by another process")

    @abstractmethod
    def moment(self, value: datetime) -> Any:
        """A time as the driver takes it."""

    @abstractmethod
    def _require_new(self, create: bool) -> None:
        """There are no tables: refuse where they may not be made."""

    @abstractmethod
    def _lock_schema(self, connection: Connection) -> None:
        """Wait until no other process is migrating; the transaction's end lets the next one in."""

    @abstractmethod
    def hold(self, run_id: str) -> AbstractContextManager[None]:
        """Keep the run for this process; a kill releases it."""

    @abstractmethod
    def is_held(self, run_id: str) -> bool:
        """Whether a process, this one included, holds the run."""

    @abstractmethod
    def reclaim(self) -> None:
        """Give the space of deleted runs back."""

    def reconnect(self) -> None:
        """Let go of every idle connection: the next one is to what has this location now.

        An open connection goes on reading a file that was deleted or replaced.
        """
        self.pool.close_idle()

    def close(self) -> None:
        """Close every connection."""
        self.pool.close()
