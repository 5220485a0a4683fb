"""What the two databases share: transactions, errors told in one sentence, the schema's version."""

from __future__ import annotations

import logging
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy import Column, Connection, Engine, String, inspect, select, table
from sqlalchemy.exc import DBAPIError, IntegrityError

from trialrun.errors import StoreError, StoreWriteError, UsageError
from trialrun.store.migrations import REVISIONS, upgrade
from trialrun.store.tables import VERSION_TABLE

# A second Ctrl-C may meet the pool while it closes a connection: it would log a traceback of that.
logging.getLogger("sqlalchemy.pool").addHandler(logging.NullHandler())


class Database(ABC):
    """A database with an engine of SQLAlchemy's; `location` is safe to print."""

    location: str
    engine: Engine
    writer: Engine

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the store."""
        with self.telling(StoreError, "read"), self.engine.begin() as connection:
            try:
                yield connection
            except ValueError as error:  # a time or a JSON text that is none any more
                raise StoreError(
                    f"the store {self.location} cannot be read: a value is damaged: {error}"
                ) from None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is on disk when it has ended; after an error nothing of it is."""
        with self.telling(StoreWriteError, "written"), self.writer.begin() as connection:
            yield connection

    @contextmanager
    def telling(self, kind: type[StoreError], done: str) -> Iterator[None]:
        """A refusal of the database as an error of ours.

        A row that is there already is left to the caller, who can name it.
        """
        try:
            yield
        except IntegrityError:
            raise
        except (DBAPIError, sqlite3.Error) as error:
            found = error.orig if isinstance(error, DBAPIError) else error
            reason = " ".join(str(found).split()) or type(found).__name__
            raise kind(f"the store {self.location} cannot be {done}: {reason}") from None

    def prepare(self, create: bool) -> None:
        """Make the tables what this trialrun expects; refuse those of a newer one untouched."""
        with self.reading() as connection:
            revision = self._revision(connection)
        if revision is None:
            self._require_new(create)
        if revision != REVISIONS[-1]:
            with self.telling(StoreError, "prepared"), self.writer.begin() as connection:
                self._lock_schema(connection)
                # Whoever held the lock before may have done the work, or be a newer trialrun.
                if self._revision(connection) != REVISIONS[-1]:
                    upgrade(connection)

    def _revision(self, connection: Connection) -> str | None:
        """The schema's version, None if there is no schema."""
        if not inspect(connection).has_table(VERSION_TABLE):
            return None
        version: Column[str] = Column("version_num", String)
        revision = connection.scalar(select(version).select_from(table(VERSION_TABLE)))
        if revision not in REVISIONS:
            raise StoreError(
                f"the store {self.location} was made by a newer trialrun: its version is "
                f"{revision}, the newest known here is {REVISIONS[-1]}; update trialrun to use it"
            )
        return str(revision)

    def held_already(self, run_id: str) -> UsageError:
        """The error of a second process that wants to write a run."""
        return UsageError(f"run {run_id} is being written by another process")

    @abstractmethod
    def _require_new(self, create: bool) -> None:
        """There are no tables: refuse, unless they are to be made."""

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

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()
