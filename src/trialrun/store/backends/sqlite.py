"""Runs in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from trialrun.errors import StoreError, UsageError
from trialrun.store.backends.base import Database
from trialrun.store.connection import Connection, Pool
from trialrun.store.locks import acquire, is_locked, release
from trialrun.store.migrations import ColumnTypes, counted_in, counted_out, upgrade
from trialrun.util.files import is_folder, reason

_BUSY_SECONDS = 30
_IN, _OUT, _ON = counted_in(), counted_out(), "ON trialrun_attempts BEGIN"
_TALLIES = (
    f"CREATE TRIGGER trialrun_attempt_added AFTER INSERT {_ON} {_IN} END",
    f"CREATE TRIGGER trialrun_attempt_deleted AFTER DELETE {_ON} {_OUT} END",
    f"CREATE TRIGGER trialrun_attempt_changed AFTER UPDATE {_ON} {_OUT} {_IN} END",
)
_TYPES = ColumnTypes("DATETIME", "FLOAT", "BLOB", {"0004": _TALLIES})


class SqliteDatabase(Database):
    """An SQLite file, and a folder next to it with locks of the runs that are being written.

    We begin transactions ourselves. Python's driver begins one only before an INSERT, and then as
    a reader that turns into a writer: SQLite refuses that at once if another process wrote in
    between, however long we would wait. A writer says so from the start (BEGIN IMMEDIATE) and
    waits its turn.
    """

    name = "sqlite"
    schemes: ClassVar[tuple[str, ...]] = ("",)
    driver_error = sqlite3.Error
    conflict_error = sqlite3.IntegrityError
    begin_writing = "BEGIN IMMEDIATE"
    column_types = _TYPES
    find_table = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?"
    run_number = "rowid"  # VACUUM may change rowids, not their order

    def __init__(self, path: Path, create: bool) -> None:
        self.location = str(path)
        self._require_usable(path)
        self._locks = path.with_name(path.name + ".locks")
        self._require_there(path, create)
        self._path = path
        self._opened = path.stat()
        self.pool = Pool(lambda: _connect(path, "rw"), lambda connection: True)

    @classmethod
    def at(cls, location: str, create: bool) -> Database:
        if location == ":memory:":
            raise UsageError("a store is a file or a database, not :memory:: runs must be kept")
        try:
            path = Path(location).expanduser()
        except RuntimeError as error:  # ~name of a user who does not exist
            raise UsageError(f"the store {location[:200]} has no place: {error}") from None
        return cls(path, create)

    def reconnect(self) -> None:
        """As for every database; the file must still be the one that was opened.

        SQLite would play the log of the old file into a new one of this name. What was written last
        is read from its log; it is written back first, so that a file that was cut off shows.
        """
        with self.errors_as(StoreError, "written"), self.pool.connection() as connection:
            connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        super().reconnect()
        try:
            same = os.path.samestat(self._path.stat(), self._opened)
        except OSError as error:
            raise StoreError(f"the store {self.location} is gone: {reason(error)}") from None
        if not same:
            raise StoreError(f"the store {self.location} is gone: another file has its name")
        with self.errors_as(StoreError, "read"), self.pool.connection() as connection:
            found = connection.rows("PRAGMA quick_check(1)")[0][0]
        if found != "ok":
            raise StoreError(f"the store {self.location} is damaged: {found}")

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
        """A file is there and is not empty; otherwise make one, or say why not."""
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
                    "restore it, or delete it to start a new one"
                )
            self._require_whole(path)
        except (OSError, ValueError) as error:
            raise StoreError(f"the store {path} cannot be opened: {reason(error)}") from None

    def _require_whole(self, path: Path) -> None:
        """The last page is whole: SQLite reads what is missing of it as zeros, without a word."""
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            return  # the log may hold the page that is being written
        with path.open("rb") as file:
            header = file.read(18)
        written = int.from_bytes(header[16:], "big")  # the page size; 1 means 65536
        page = 65536 if written == 1 else written
        if header.startswith(b"SQLite format 3\0") and page and path.stat().st_size % page:
            raise StoreError(
                f"the store {path} is damaged: it was cut off in the middle of a page; restore it"
            )

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
        try:
            with self.errors_as(StoreError, "made"):
                _make_tables(fresh)
            fresh.replace(path)
        finally:
            for half_made in (fresh, *_beside(fresh)):
                with suppress(OSError):
                    half_made.unlink()
        _sync_folder(path.parent)

    def moment(self, value: datetime) -> str:
        """SQLite has no type for times: text in UTC, which sorts in the order of time."""
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")

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
        """Write the file again without what was deleted."""
        with (
            self.errors_as(StoreError, "written"),
            # Refused while another process reads or writes, or on a full disk. The runs are
            # deleted all the same, and SQLite uses their space again.
            suppress(sqlite3.OperationalError),
            self.pool.connection() as connection,
        ):
            connection.execute("VACUUM")
            connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")


def _beside(path: Path) -> list[Path]:
    """The files that SQLite keeps beside a database while it is open."""
    return [path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal")]


def _connect(path: Path, mode: str) -> Connection:
    """A connection that checks foreign keys, and whose commits are on disk when they return."""
    raw = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,  # the pool gives a connection to one thread at a time
    )
    try:
        raw.execute("PRAGMA foreign_keys=ON")
        raw.execute("PRAGMA synchronous=FULL")
    except BaseException:
        raw.close()
        raise
    return Connection(raw)


def _make_tables(fresh: Path) -> None:
    """A whole store in a new file: a process that sees the final name sees all the tables."""
    with closing(_connect(fresh, "rwc")) as connection:
        connection.rows("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        upgrade(connection, None, _TYPES)
        connection.execute("COMMIT")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
