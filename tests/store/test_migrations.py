"""Migrations upgrade any older store with its data, and refuse a newer one."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from tests.store.samples import attempt, no_redaction, planned, run, start
from trialrun.errors import StoreError
from trialrun.store import migrations, open_store
from trialrun.store.backends.postgresql import PostgresqlDatabase
from trialrun.store.backends.sqlite import SqliteDatabase
from trialrun.store.connection import Connection
from trialrun.store.migrations import REVISIONS, VERSION_TABLE

WRITTEN = Path(__file__).parent.parent / "data" / "written_by_0_1"


@contextmanager
def connected(location):
    """A separate connection to the database; its transaction is committed at the end."""
    if "://" in location:
        with psycopg.connect(location) as raw:
            yield Connection(raw, "%s")
    else:
        with closing(sqlite3.connect(location)) as raw, raw:
            yield Connection(raw)


def execute_all(location, *statements):
    with connected(location) as connection:
        for statement in statements:
            connection.execute(statement)


OLD_ROWS = (
    "INSERT INTO trialrun_runs VALUES ('old', 'a.yaml', '/a.yaml', 'finished',"
    " '2026-01-02 03:04:05.000000', NULL, 1, 1, '0.1', '{\"gates\": 1}', '[\"careful\"]')",
    "INSERT INTO trialrun_planned VALUES ('old', 0, 's', NULL, 'c', '[]')",
)


def migrate(location, current, last):
    database = PostgresqlDatabase if "://" in location else SqliteDatabase
    with connected(location) as connection:
        migrations.upgrade(connection, current, database.column_types, last)


def old_store(location):
    """Create a store of the first revision with one run."""
    migrate(location, None, "0001")
    in_utc = ["SET TIME ZONE 'UTC'"] if "://" in location else []
    execute_all(location, *in_utc, *OLD_ROWS)


def test_every_migration_stores_its_revision(store_location):
    assert sorted(REVISIONS) == list(REVISIONS)
    for current, revision in zip((None, *REVISIONS), REVISIONS, strict=False):
        migrate(store_location, current, revision)
        with connected(store_location) as connection:
            # 0003 only adds: version 0.1, which knows the revisions up to 0002, may go on.
            stored = min(revision, "0002")
            assert connection.rows(f"SELECT * FROM {VERSION_TABLE}") == [(stored,)]


INSERT_OF_0_1 = (
    "INSERT INTO trialrun_runs (id, spec, spec_key, state, created_at, finished_at, planned,"
    " repeat, trialrun, settings, warnings, kind, source) VALUES ('{}', 'a.yaml', '/a.yaml',"
    " 'finished', '{}', NULL, 0, 1, '0.1.0', '{{}}', '[]', 'run', NULL)"
)


def test_version_0_1_adds_runs_to_a_store_of_today(store_location):
    """Its rows have no number and no origin; they are in the order in which they were added."""
    with open_store(store_location) as store:
        store.create_run(run(), planned(3))
        first = store.runs()[0].id
    execute_all(store_location, INSERT_OF_0_1.format("by-0.1", "2020-01-01 00:00:00"))
    with open_store(store_location) as store:
        store.create_run(run(id="again", created_at=datetime(2019, 1, 1, tzinfo=UTC)), planned(3))
        assert [one.id for one in store.runs()] == ["again", "by-0.1", first]
        assert store.runs()[1].origin == {}


def test_runs_of_older_stores_are_numbered_before_new_ones(store_location):
    migrate(store_location, None, "0002")
    for name, moment in (("b", "2026-01-02 00:00:00"), ("c", "2026-01-03 00:00:00")):
        execute_all(store_location, INSERT_OF_0_1.format(name, moment))
    with open_store(store_location) as store:
        store.create_run(run(id="new", created_at=datetime(2019, 1, 1, tzinfo=UTC)), planned(3))
        assert [one.id for one in store.runs()] == ["new", "c", "b"]


SCHEMA_OF_SERVER = (
    "SELECT table_name, column_name, ordinal_position, data_type, character_maximum_length,"
    " is_nullable, column_default FROM information_schema.columns"
    " WHERE table_schema = 'public' ORDER BY 1, 3",
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'public'::regnamespace ORDER BY 1",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
)
SCHEMA_OF_FILE = ("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name",)


def schema_of(location):
    """Every table, column, key and index, without whitespace."""
    with connected(location) as connection:
        rows = [
            row
            for query in (SCHEMA_OF_SERVER if "://" in location else SCHEMA_OF_FILE)
            for row in connection.rows(query)
        ]
    return [
        tuple("".join(value.split()) if isinstance(value, str) else value for value in row)
        for row in rows
    ]


@pytest.mark.parametrize("written", ["runs", "runs-0001"])
def test_the_sqlite_schema_is_that_of_the_first_release(tmp_path, written):
    earlier, now = tmp_path / "earlier.db", tmp_path / "now.db"
    shutil.copy(WRITTEN / f"{written}.db", earlier)
    for location in (earlier, now):
        open_store(str(location)).close()
    found = schema_of(str(now))
    assert len(found) == 11, "the version, six tables, an index and three triggers"
    assert found == schema_of(str(earlier))


@pytest.mark.postgres
@pytest.mark.parametrize("written", ["runs", "runs-0001"])
def test_the_postgresql_schema_is_that_of_the_first_release(postgres_url, written):
    open_store(postgres_url).close()
    found = schema_of(postgres_url)
    tables = ["labels", "tallies", "asked", "attempts", "planned", "runs", "alembic_version"]
    execute_all(postgres_url, *(f"DROP TABLE trialrun_{table}" for table in tables))
    execute_all(postgres_url, "DROP FUNCTION trialrun_count_attempt")
    with connected(postgres_url) as connection:
        connection.raw.execute((WRITTEN / f"{written}.sql").read_text(encoding="utf-8"))
    open_store(postgres_url).close()
    assert len(found) > 35
    assert found == schema_of(postgres_url)


def test_an_older_store_is_migrated_with_its_runs(store_location):
    old_store(store_location)
    with open_store(store_location, create=False) as store:
        (found,) = store.runs()
        assert (found.id, found.kind, found.source) == ("old", "run", None)
        assert (found.settings, found.warnings) == ({"gates": 1}, ["careful"])
        assert found.created_at.isoformat() == "2026-01-02T03:04:05+00:00"
        store.add("old", [attempt()], no_redaction)
        store.create_run(run(kind="regrade", source="old"), planned(3))
        assert store.tally("old") == {"pass": 1}


OPENER = """
import psycopg
import trialrun.store.backends.postgresql, trialrun.store.backends.sqlite, trialrun.store.store
print("ready", flush=True)
sys.stdin.readline()
open_store(sys.argv[1]).close()
"""


@pytest.mark.parametrize("count", [3, pytest.param(5, marks=pytest.mark.process)])
@pytest.mark.parametrize("before", ["nothing", "old"])
def test_processes_that_open_a_store_at_once_all_succeed(store_location, before, count):
    if before == "old":
        old_store(store_location)
    processes = [start(OPENER, store_location) for _ in range(count)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
    with open_store(store_location, create=False) as store:
        assert len(store.runs()) == (before == "old")


def test_a_store_of_a_newer_trialrun_is_refused_unchanged(store_location):
    open_store(store_location).close()
    execute_all(store_location, f"UPDATE {VERSION_TABLE} SET version_num = '0815'")
    sqlite = store_location.endswith(".db")
    before = Path(store_location).read_bytes() if sqlite else None
    for create in (True, False):
        with pytest.raises(StoreError) as refused:
            open_store(store_location, create=create)
        assert refused.value.exit_code == 2
        assert "was made by a newer trialrun: its version is 0815" in str(refused.value)
    if sqlite:
        assert Path(store_location).read_bytes() == before
        assert {file.name for file in Path(store_location).parent.iterdir()} == {
            "runs.db",
            "runs.db.locks",
        }


def test_a_newer_trialrun_that_migrates_at_the_same_time_is_detected(store_location, monkeypatch):
    """Another process may migrate between the first read of the version and the lock."""
    old_store(store_location)
    database = PostgresqlDatabase if "://" in store_location else SqliteDatabase
    lock = database._lock_schema

    def late(self, connection):
        lock(self, connection)
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0815'")

    monkeypatch.setattr(database, "_lock_schema", late)
    with pytest.raises(StoreError, match="was made by a newer trialrun: its version is 0815"):
        open_store(store_location)


def test_a_migration_that_fails_changes_nothing(store_location):
    old_store(store_location)
    # The last statement of the migration fails: the name of its index exists.
    execute_all(store_location, "CREATE INDEX trialrun_runs_by_time ON trialrun_runs (planned)")
    with pytest.raises(StoreError, match=r"cannot be prepared: .*already exists"):
        open_store(store_location)
    execute_all(store_location, "DROP INDEX trialrun_runs_by_time")
    with open_store(store_location) as store:
        assert [one.id for one in store.runs()] == ["old"]


@pytest.mark.postgres
def test_tables_of_other_programs_are_not_changed(postgres_url):
    execute_all(
        postgres_url,
        "CREATE TABLE runs (x int)",
        "CREATE TABLE alembic_version (version_num varchar(32))",
        "INSERT INTO alembic_version VALUES ('theirs')",
    )
    open_store(postgres_url).close()
    with connected(postgres_url) as connection:
        assert connection.rows("SELECT version_num FROM alembic_version") == [("theirs",)]
