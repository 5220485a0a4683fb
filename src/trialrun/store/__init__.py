"""Runs on disk: an SQLite file by default, a PostgreSQL database by URL.

The drivers are loaded when a store is opened, and only the one that it needs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from trialrun import registry
from trialrun.errors import StoreError, UsageError
from trialrun.store.records import Attempt, PlannedCase, RunRecord, RunState, new_run_id
from trialrun.util.files import reason

if TYPE_CHECKING:
    from trialrun.store.backends.base import Database
    from trialrun.store.store import Store

__all__ = ["Attempt", "PlannedCase", "RunRecord", "RunState", "new_run_id", "open_store"]

DEFAULT = Path(".trialrun") / "runs.db"


def open_store(location: str | None = None, *, create: bool = True) -> Store:
    """The store at a path or a `postgresql://` URL; else at TRIALRUN_STORE, else at `DEFAULT`.

    With `create=False`, for commands that only read, a store that is not there is an error.
    """
    from trialrun.store.store import Store

    location = location or os.environ.get("TRIALRUN_STORE", "").strip() or None
    if location is None and create:
        _make_default_folder()
    database = _database(location or str(DEFAULT), create)
    try:
        database.prepare(create)
    except BaseException:
        database.close()
        raise
    return Store(database)


def _database(location: str, create: bool) -> Database:
    scheme, marker, _ = location.partition("://")
    kind = registry.store_backend(scheme if marker else "")
    if kind is None:
        raise UsageError(
            f"a store cannot be at {scheme}://…: give the path of a file (SQLite) or "
            "postgresql://user@host/database"
        )
    return kind.at(location, create)


def _make_default_folder() -> None:
    """Keep the folder out of git by default: runs hold what agents said."""
    folder = DEFAULT.parent
    try:
        folder.mkdir()
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except FileExistsError:
        pass
    except OSError as error:
        raise StoreError(f"the store {DEFAULT} cannot be made: {reason(error)}") from None
