"""The numbered steps from an empty database to the tables of today, oldest first.

The names of all tables begin with `trialrun_`, because a store may be a database that others use
too. To change a table, add a step at the end of `_STEPS`; a step that was released never changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from trialrun.store.connection import Connection

VERSION_TABLE = "trialrun_alembic_version"
"""One row with the number of the last step. The name and the columns are those that alembic gave
it in trialrun 0.1, which refuses a number that it does not know. A step that only adds what 0.1
leaves alone therefore keeps the number of the step before, and is known by the table that it makes:
0.1 opens the stores of today."""

ASKED_TABLE = "trialrun_asked"
"""What was asked in the attempts of a run; step 0003 makes it."""

TALLIES_TABLE = "trialrun_tallies"
"""The sums of the attempts of a run, by status; step 0004 makes it."""

KNOWN_BY_TABLE = (("0004", TALLIES_TABLE), ("0003", ASKED_TABLE))
"""The steps that keep the number of the one before, the last first."""


class ColumnTypes(Struct, frozen=True):
    """How a database calls the types that have no common name."""

    moment: str
    real: str
    blob: str
    further: Mapping[str, Sequence[str]] = {}
    """Statements of this database at the end of a step: numbers of runs, triggers."""


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

FIGURES = ("cost_usd", "total_tokens", "duration_ms")
"""The columns of an attempt that are added up: the sum, and how many attempts have a value."""

# Triggers keep the sums, not our code: version 0.1 adds attempts to stores of today, too.
_SUMS_AND_LABELS = (
    f"""
    CREATE TABLE {TALLIES_TABLE} (
        run_id VARCHAR(64) NOT NULL,
        status VARCHAR(16) NOT NULL,
        attempts INTEGER NOT NULL,
        {{sums}}
        PRIMARY KEY (run_id, status),
        FOREIGN KEY(run_id) REFERENCES trialrun_runs (id) ON DELETE CASCADE
    )
    """,
    f"""
    INSERT INTO {TALLIES_TABLE} SELECT run_id, status, count(*),
    {", ".join(f"coalesce(sum({name}), 0), count({name})" for name in FIGURES)}
    FROM trialrun_attempts GROUP BY run_id, status
    """,
    """
    CREATE TABLE trialrun_labels (
        run_id VARCHAR(64) NOT NULL,
        position INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        "check" TEXT NOT NULL,
        turn INTEGER NOT NULL,
        rule_key VARCHAR(32) NOT NULL,
        rule TEXT NOT NULL,
        follows INTEGER NOT NULL,
        reason TEXT NOT NULL,
        given_at {moment} NOT NULL,
        PRIMARY KEY (run_id, position, attempt, "check", turn, rule_key),
        FOREIGN KEY(run_id, position)
            REFERENCES trialrun_planned (run_id, position) ON DELETE CASCADE
    )
    """,
)

_STEPS = {
    "0001": _RUNS_AND_ATTEMPTS,
    "0002": _KINDS_OF_RUNS,
    "0003": _WHAT_WAS_ASKED,
    "0004": _SUMS_AND_LABELS,
}

REVISIONS = tuple(_STEPS)
"""Every revision that this trialrun knows."""


def upgrade(
    connection: Connection, current: str | None, types: ColumnTypes, last: str = REVISIONS[-1]
) -> None:
    """Go from the current revision, None without tables, to the last, in the open transaction."""
    done = 0 if current is None else REVISIONS.index(current) + 1
    sums = "".join(f"{name} {types.real} NOT NULL, {name}_known INTEGER, " for name in FIGURES)
    names = {"moment": types.moment, "real": types.real, "blob": types.blob, "sums": sums}
    for revision in REVISIONS[done : REVISIONS.index(last) + 1]:
        for statement in (*_STEPS[revision], *types.further.get(revision, ())):
            connection.execute(statement.format(**names))


def counting(sign: str, row: str) -> str:
    """The assignments of a trigger that adds the row of an attempt to its tally, or takes it away.

    `row` is `NEW` or `OLD`, `sign` is + or -.
    """
    parts = [f"attempts = {TALLIES_TABLE}.attempts {sign} 1"]
    for name in FIGURES:
        parts += [
            f"{name} = {TALLIES_TABLE}.{name} {sign} coalesce({row}.{name}, 0)",
            f"{name}_known = {TALLIES_TABLE}.{name}_known {sign} {known(name, row)}",
        ]
    return ", ".join(parts)


def known(name: str, row: str) -> str:
    """1 where the row has a value, else 0."""
    return f"CASE WHEN {row}.{name} IS NULL THEN 0 ELSE 1 END"


def counted_in() -> str:
    """The statement of a trigger that counts a row that was inserted."""
    values = ", ".join(f"coalesce(NEW.{name}, 0), {known(name, 'NEW')}" for name in FIGURES)
    return (
        f"INSERT INTO {TALLIES_TABLE} VALUES (NEW.run_id, NEW.status, 1, {values})"
        f" ON CONFLICT (run_id, status) DO UPDATE SET {counting('+', 'NEW')};"
    )


def counted_out() -> str:
    """The statement of a trigger that takes a row away; not where its whole run is deleted."""
    return (
        f"UPDATE {TALLIES_TABLE} SET {counting('-', 'OLD')}"
        " WHERE run_id = OLD.run_id AND status = OLD.status"
        " AND EXISTS (SELECT 1 FROM trialrun_runs WHERE id = OLD.run_id);"
    )
