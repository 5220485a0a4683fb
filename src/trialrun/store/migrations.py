"""The numbered steps from an empty database to the tables of today, oldest first.

The names of all tables begin with `trialrun_`, because a store may be a database that others use
too. To change a table, add a step at the end of `_STEPS`; a step that was released never changes.
"""

from __future__ import annotations

from msgspec import Struct

from trialrun.store.connection import Connection

VERSION_TABLE = "trialrun_alembic_version"
"""One row with the number of the last step. The name and the columns are those that alembic gave
it in trialrun 0.1, which therefore opens the stores of today and refuses those of a later step."""


class ColumnTypes(Struct, frozen=True):
    """How a database calls the types that have no common name."""

    moment: str
    real: str
    blob: str


_RUNS_AND_ATTEMPTS = (
    f"""
    CREATE TABLE {VERSION_TABLE} (
        version_num VARCHAR(32) NOT NULL,
        CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num)
    )
    """,
    """
    CREATE TABLE trialrun_runs (
        id VARCHAR(64) NOT NULL,
        spec TEXT NOT NULL,
        spec_key TEXT NOT NULL,
        state VARCHAR(16) NOT NULL,
        created_at {moment} NOT NULL,
        finished_at {moment},
        planned INTEGER NOT NULL,
        repeat INTEGER NOT NULL,
        trialrun VARCHAR(64) NOT NULL,
        settings TEXT NOT NULL,
        warnings TEXT NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE trialrun_planned (
        run_id VARCHAR(64) NOT NULL,
        position INTEGER NOT NULL,
        suite TEXT NOT NULL,
        agent TEXT,
        "case" TEXT NOT NULL,
        tags TEXT NOT NULL,
        PRIMARY KEY (run_id, position),
        FOREIGN KEY(run_id) REFERENCES trialrun_runs (id) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE trialrun_attempts (
        run_id VARCHAR(64) NOT NULL,
        position INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        fingerprint VARCHAR(64) NOT NULL,
        status VARCHAR(16) NOT NULL,
        error TEXT,
        duration_ms {real},
        total_tokens BIGINT,
        cost_usd {real},
        recorded_at {moment} NOT NULL,
        result {blob} NOT NULL,
        trace {blob},
        PRIMARY KEY (run_id, position, attempt),
        FOREIGN KEY(run_id, position)
            REFERENCES trialrun_planned (run_id, position) ON DELETE CASCADE
    )
    """,
    f"INSERT INTO {VERSION_TABLE} VALUES ('0001')",
)

_KINDS_OF_RUNS = (
    "ALTER TABLE trialrun_runs ADD COLUMN kind VARCHAR(16) DEFAULT 'run' NOT NULL",
    "ALTER TABLE trialrun_runs ADD COLUMN source VARCHAR(64)",
    "CREATE INDEX trialrun_runs_by_time ON trialrun_runs (created_at)",
    f"UPDATE {VERSION_TABLE} SET version_num = '0002'",
)

_STEPS = {"0001": _RUNS_AND_ATTEMPTS, "0002": _KINDS_OF_RUNS}

REVISIONS = tuple(_STEPS)
"""Every revision that this trialrun knows."""


def upgrade(
    connection: Connection, current: str | None, types: ColumnTypes, last: str = REVISIONS[-1]
) -> None:
    """Go from the current revision, None without tables, to the last, in the open transaction."""
    done = 0 if current is None else REVISIONS.index(current) + 1
    names = {name: getattr(types, name) for name in types.__struct_fields__}
    for revision in REVISIONS[done : REVISIONS.index(last) + 1]:
        for statement in _STEPS[revision]:
            connection.execute(statement.format(**names))
