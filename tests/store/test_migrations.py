"""From any older store to the tables of today, with all that was in it; never from a newer one."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from tests.store.samples import attempt, keep, planned, run, start
from trialrun.errors import StoreError
from trialrun.store import migrations, open_store
from trialrun.store.tables import VERSION_TABLE, metadata


def engine_of(location):
    scheme, marker, rest = location.partition("://")
    return create_engine(f"{scheme}+psycopg://{rest}" if marker else f"sqlite:///{location}")


def in_database(location, *statements):
    engine = engine_of(location)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


OLD_ROWS = (
    "INSERT INTO trialrun_runs VALUES ('old', 'a.yaml', '/a.yaml', 'finished',"
    " '2026-01-02 03:04:05.000000', NULL, 1, 1, '0.1', '{\"gates\": 1}', '[\"careful\"]')",
    "INSERT INTO trialrun_planned VALUES ('old', 0, 's', NULL, 'c', '[]')",
)


def old_store(location):
    """A store of the first revision with a run in it."""
    engine = engine_of(location)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET TIME ZONE 'UTC'"))
        migrations.upgrade(connection, "0001")
        for statement in OLD_ROWS:
            connection.exec_driver_sql(statement)
    engine.dispose()


def test_the_revisions_that_are_known_are_those_that_there_are():
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    there = [one.revision for one in script.walk_revisions()]
    assert tuple(reversed(there)) == migrations.REVISIONS


def test_the_migrations_lead_to_the_tables(store_location):
    open_store(store_location).close()
    engine = engine_of(store_location)
    with engine.connect() as connection:
        options = {"version_table": VERSION_TABLE, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_an_older_store_is_brought_up_to_date_with_its_runs(store_location):
    old_store(store_location)
    with open_store(store_location, create=False) as store:
        (found,) = store.runs()
        assert (found.id, found.kind, found.source) == ("old", "run", None)
        assert (found.settings, found.warnings) == ({"gates": 1}, ["careful"])
        assert found.created_at.isoformat() == "2026-01-02T03:04:05+00:00"
        store.add("old", [attempt()], keep)
        store.create_run(run(kind="regrade", source="old"), planned(3))
        assert store.tally("old") == {"pass": 1}


OPENER = """
import alembic.command, psycopg, trialrun.store.postgresql, trialrun.store.sqlite
print("ready", flush=True)
sys.stdin.readline()
open_store(sys.argv[1]).close()
"""


@pytest.mark.parametrize("before", ["nothing", "old"])
def test_processes_that_open_a_store_at_once_all_succeed(store_location, before):
    if before == "old":
        old_store(store_location)
    processes = [start(OPENER, store_location) for _ in range(5)]
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


def test_a_store_of_a_newer_trialrun_is_left_alone(store_location):
    open_store(store_location).close()
    in_database(store_location, f"UPDATE {VERSION_TABLE} SET version_num = '0815'")
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


def test_a_migration_that_fails_changes_nothing(store_location):
    old_store(store_location)
    # The last statement of the migration finds the name of its index taken.
    in_database(store_location, "CREATE INDEX trialrun_runs_by_time ON trialrun_runs (planned)")
    with pytest.raises(StoreError, match=r"cannot be prepared: .*already exists"):
        open_store(store_location)
    in_database(store_location, "DROP INDEX trialrun_runs_by_time")
    with open_store(store_location) as store:
        assert [one.id for one in store.runs()] == ["old"]


def test_tables_of_others_are_left_alone(postgres_url):
    in_database(
        postgres_url,
        "CREATE TABLE runs (x int)",
        "CREATE TABLE alembic_version (version_num varchar(32))",
        "INSERT INTO alembic_version VALUES ('theirs')",
    )
    open_store(postgres_url).close()
    engine = engine_of(postgres_url)
    with engine.connect() as connection:
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
        assert found == ["theirs"]
    engine.dispose()
