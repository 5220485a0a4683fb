"""The steps from an empty database to the tables of today, oldest first.

A change of `tables.py` is a new file in `versions/` and its revision at the end of `REVISIONS`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

REVISIONS = ("0001", "0002")
"""Every revision that this trialrun knows, so that alembic is loaded only to migrate."""


def upgrade(connection: Connection, revision: str = REVISIONS[-1]) -> None:
    """Bring the tables up to the revision, inside the connection's own transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    # The value goes through a ConfigParser, for which a percent sign in a path is special.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
