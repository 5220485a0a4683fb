"""Runs in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event

from trialrun.errors import StoreError, UsageError
from trialrun.store.database import Database
from trialrun.store.locks import acquire, is_locked, release
from trialrun.store.migrations import upgrade
from trialrun.util.files import is_folder, reason

_BUSY_SECONDS = 30

_WRITES = "trialrun_writes"
"""The execution option of a connection whose transactions write."""


class SqliteDatabase(Database):
    """A file, and beside it a folder with the locks of the runs that are being written."""

    def __init__(self, path: Path, create: bool) -> None:
        self.location = str(path)
        self._require_usable(path)
        self._locks = path.with_name(path.name + ".locks")
        self._require_there(path, create)
        self.engine = _engine(path, "rw")
        self.writer = self.engine.execution_options(**{_WRITES: True})

    def _require_usable(self, path: Path) -> None:
        """What is there under this name, if anything, is a file."""
        if is_folder(path) or not path.name:
            raise StoreError(f"the store {path} is a folder; give the path of a file in it")
        try:
            if path.is_symlink() and not path.exists():
                # Perhaps a disk that is not mounted: a new store here would hide the old one.
                raise StoreError(
                    f"the store {path} is a link to {path.readlink()}, which is not there"
                )
            if path.exists() and not path.is_file():
                raise StoreError(f"the store {path} is not a file; give the path of one")
        except (OSError, ValueError) as error:
            raise StoreError(f"the store {path} cannot be opened: {reason(error)}") from None

    def _require_there(self, path: Path, create: bool) -> None:
        """A file is there and is not empty; otherwise one is made, or the reason is told."""
        try:
            if not path.exists():
                if not create:
                    raise UsageError(
                        f"no runs are recorded here: {path} does not exist; "
                        "`trialrun run` makes one"
                    )
                self._make(path)
            if path.stat().st_size == 0:
                # SQLite takes an empty file for a new database. A store is made whole and then
                # named, so this one was cut off, and all its runs would seem never to have been.
                raise StoreError(
                    f"the store {path} is an empty file, which trialrun never leaves behind; "
                    "restore it, or delete it to begin anew"
                )
        except (OSError, ValueError) as error:
            raise StoreError(f"the store {path} cannot be opened: {reason(error)}") from None

    def _make(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = self._locks / "store"
        descriptor = acquire(lock, wait=True)
        assert descriptor is not None
        try:
            if not path.exists():  # else another process was quicker
                self._make_locked(path)
        finally:
            release(lock, descriptor)

    def _make_locked(self, path: Path) -> None:
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            # SQLite would play the log of the old database into the new one.
            raise StoreError(
                f"the store {path} is gone, but {log.name} with its latest runs is there; "
                "put the store back, or delete that file too"
            )
        fresh = path.with_name(path.name + ".new")
        for left_behind in (fresh, *_beside(fresh), *_beside(path)):
            left_behind.unlink(missing_ok=True)
        with self.telling(StoreError, "made"):
            _make_tables(fresh)
        fresh.replace(path)
        _sync_folder(path.parent)

    def _require_new(self, create: bool) -> None:
        """Never: a file without tables was not made by us, and its owner does not expect ours."""
        raise StoreError(
            f"{self.location} is an SQLite database, but not a store of trialrun; give another path"
        )

    def _lock_schema(self, connection: Connection) -> None:
        """Nothing to do: the transaction of a writer is the only one from its beginning."""

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """Keep the run for this process, by a lock file."""
        file = self._locks / run_id
        try:
            descriptor = acquire(file, wait=False)
        except OSError as error:
            raise StoreError(f"run {run_id} cannot be locked by {file}: {reason(error)}") from None
        if descriptor is None:
            raise self.held_already(run_id)
        try:
            yield
        finally:
            release(file, descriptor)

    def is_held(self, run_id: str) -> bool:
        """Whether a process holds the lock file of the run."""
        file = self._locks / run_id
        try:
            return is_locked(file)
        except OSError as error:
            raise StoreError(f"the lock {file} cannot be read: {reason(error)}") from None

    def reclaim(self) -> None:
        """Write the file anew without what was deleted."""
        connection = self.engine.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError:
            # Somebody reads or writes, or the disk is full. The runs are deleted all the same, and
            # SQLite uses their space again.
            pass
        finally:
            connection.close()


def _beside(path: Path) -> list[Path]:
    """The files that SQLite keeps beside a database while it is open."""
    return [path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal")]


def _engine(path: Path, mode: str) -> Engine:
    """An engine whose transactions are begun by us.

    Python's driver begins one only before an INSERT, and then as a reader that turns into a
    writer: SQLite refuses that at once if another process wrote in between, however long we would
    wait. A writer says so from the start (BEGIN IMMEDIATE) and waits its turn.
    """
    address = f"file:{quote(str(path))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    engine = create_engine(
        URL.create("sqlite", database=str(path)), creator=connect, poolclass=QueuePool
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _make_tables(fresh: Path) -> None:
    """A whole store in a file of its own: whoever sees the final name sees all the tables."""
    engine = _engine(fresh, "rwc")
    try:
        raw = engine.raw_connection()
        raw.cursor().execute("PRAGMA journal_mode=WAL")
        raw.close()
        with engine.begin() as connection:
            upgrade(connection)
    finally:
        engine.dispose()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
