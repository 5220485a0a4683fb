"""The numbered steps from an empty database to the tables of today, oldest first.

The names of all tables begin with `trialrun_`, because a store may be a database that others use
too. To change a table, add a step at the end of `_STEPS`; a step that was released never changes.
"""

from __future__ import annotations

from msgspec import Struct

from trialrun.store.connection import Connection

VERSION_TABLE = "trialrun_alembic_version"
"""One row with the number of the last step. The name and the columns are those that alembic gave
it in trialrun 0.1, which refuses a number that it does not know. A step that only adds what 0.1
leaves alone therefore keeps the number of the step before, and is known by the table that it makes:
0.1 opens the stores of today."""

ASKED_TABLE = "trialrun_asked"
"""What was asked in the attempts of a run; step 0003 makes it."""


class ColumnTypes(Struct, frozen=True):
    """How a database calls the types that have no common name."""

    moment: str
    real: str
    blob: str
    number_runs: tuple[str, ...] = ()
    """What numbers the runs as they are inserted, where the database does not do so by itself."""


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

_WHAT_WAS_ASKED = (
    f"""
    CREATE TABLE {ASKED_TABLE} (
        run_id VARCHAR(64) NOT NULL,
        fingerprint VARCHAR(64) NOT NULL,
        asked TEXT NOT NULL,
        PRIMARY KEY (run_id, fingerprint),
        FOREIGN KEY(run_id) REFERENCES trialrun_runs (id) ON DELETE CASCADE
    )
    """,
    "ALTER TABLE trialrun_runs ADD COLUMN origin TEXT",
)

_STEPS = {"0001": _RUNS_AND_ATTEMPTS, "0002": _KINDS_OF_RUNS, "0003": _WHAT_WAS_ASKED}

REVISIONS = tuple(_STEPS)
"""Every revision that this trialrun knows."""


def upgrade(
    connection: Connection, current: str | None, types: ColumnTypes, last: str = REVISIONS[-1]
) -> None:
    """Go from the current revision, None without tables, to the last, in the open transaction."""
    done = 0 if current is None else REVISIONS.index(current) + 1
    names = {"moment": types.moment, "real": types.real, "blob": types.blob}
    for revision in REVISIONS[done : REVISIONS.index(last) + 1]:
        further = types.number_runs if revision == "0003" else ()
        for statement in (*_STEPS[revision], *further):
            connection.execute(statement.format(**names))
