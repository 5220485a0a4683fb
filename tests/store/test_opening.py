"""Missing, foreign or damaged stores: one clear message, and never an empty store instead."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.postgres import PASSWORD
from tests.store.samples import attempt, record_run
from trialrun.errors import StoreError, UsageError
from trialrun.store import open_store
from trialrun.store.address import read_address
from trialrun.store.backends.postgresql import PostgresqlDatabase


def refusal(location, kind=StoreError, **options):
    with pytest.raises(kind) as refused:
        open_store(location, **options)
    assert type(refused.value) is kind
    assert refused.value.exit_code == 2
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_the_default_store_is_kept_out_of_repositories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    with open_store() as store:
        assert store.location == str(Path(".trialrun/runs.db"))
    assert (tmp_path / ".trialrun/.gitignore").read_text() == "*\n"
    (tmp_path / ".trialrun/.gitignore").unlink()
    open_store().close()
    assert not (tmp_path / ".trialrun/.gitignore").exists(), (
        "a deleted .gitignore is not created again"
    )


def test_the_environment_names_the_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIALRUN_STORE", "deep/in/my.db")
    open_store().close()
    open_store("given.db").close()
    assert (tmp_path / "deep/in/my.db").exists()
    assert (tmp_path / "given.db").exists()
    assert not (tmp_path / ".trialrun").exists()


def test_a_reader_creates_no_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    for location in (None, "some/where.db"):
        message = refusal(location, UsageError, create=False)
        assert message.startswith("no runs are recorded here: ")
        assert message.endswith(".db does not exist; `trialrun run` makes one")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.postgres
def test_a_reader_creates_no_tables_on_a_server(postgres_url):
    message = refusal(postgres_url, UsageError, create=False)
    assert "has no tables of trialrun" in message
    open_store(postgres_url).close()
    open_store(postgres_url, create=False).close()


@pytest.mark.parametrize("name", ["with space.db", "what?.db", "50%.db", "a#b.db", "ünï.db"])
def test_a_path_may_have_any_characters(tmp_path, name):
    with open_store(str(tmp_path / name)) as store:
        record_run(store)
    assert {file.name for file in tmp_path.iterdir()} == {name, name + ".locks"}


def test_a_folder_is_refused(tmp_path):
    assert "is a folder; give the path of a file in it" in refusal(str(tmp_path))


def test_an_impossible_path_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    assert "file/runs.db cannot be opened: " in refusal(str(tmp_path / "file" / "runs.db"))
    assert "cannot be opened: File name too long" in refusal("x" * 300)
    assert "cannot be opened: " in refusal("a\0b")


@pytest.mark.parametrize("location", ["mysql://h/d", "sqlite:///x.db", "http://x"])
def test_an_unknown_scheme_is_refused(location):
    message = refusal(location, UsageError)
    assert message.startswith(f"a store cannot be at {location.partition(':')[0]}://")
    assert "the path of a file (SQLite) or postgresql://user@host/database" in message


def test_an_address_that_cannot_be_read_is_not_shown():
    message = refusal("postgresql://me:hidden@host:port:9/x", UsageError)
    assert "hidden" not in message
    assert "expected postgresql:// and then user:password@host:port/database" in message


def test_a_file_that_is_not_a_database_is_refused_unchanged(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("These are notes, not runs. " * 100)
    before = file.read_bytes()
    assert f"the store {file} cannot be read: file is not a database" in refusal(str(file))
    assert file.read_bytes() == before


def test_a_database_of_another_program_is_refused_unchanged(tmp_path):
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = file.read_bytes()
    for create in (True, False):
        assert "not a store of trialrun" in refusal(str(file), create=create)
    assert file.read_bytes() == before


def test_a_truncated_store_is_never_read_as_empty(tmp_path):
    whole = tmp_path / "whole.db"
    with open_store(str(whole)) as store:
        run_id = record_run(store, count=300)
    data = whole.read_bytes()
    size = 4096
    short = [0, 1, 15, 16, 99, 100, 511, 512, size - 1, size, size + 1, 3 * size, len(data) // 2]
    for length in [*short, len(data) - size]:
        file = tmp_path / f"cut-{length}.db"
        file.write_bytes(data[:length])
        for create in (True, False):
            with pytest.raises(StoreError) as refused, open_store(str(file), create=create) as cut:
                list(cut.attempts(run_id))
            assert str(file) in str(refused.value)
            assert ("is an empty file" in str(refused.value)) == (length == 0)
        assert file.read_bytes() == data[:length]


def test_a_store_without_its_last_byte_is_refused_or_read_correctly(tmp_path):
    file = tmp_path / "runs.db"
    with open_store(str(file)) as store:
        run_id = record_run(store, count=300)
    file.write_bytes(file.read_bytes()[:-1])
    try:
        with open_store(str(file), create=False) as store:
            found = list(store.attempts(run_id))
    except StoreError as error:
        assert str(file) in str(error)
    else:
        assert len(found) == 300
        assert all(
            one.result.status == "error" or one == attempt(place) for place, one in enumerate(found)
        )


def test_damage_in_the_middle_is_reported(tmp_path):
    file = tmp_path / "runs.db"
    with open_store(str(file)) as store:
        run_id = record_run(store, count=300)
    data = bytearray(file.read_bytes())
    for page in range(12, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    file.write_bytes(data)
    with (
        pytest.raises(StoreError, match=r"runs\.db cannot be read: database disk image is malf"),
        open_store(str(file)) as store,
    ):
        list(store.attempts(run_id))


def test_the_log_of_a_deleted_store_is_not_replayed_into_a_new_one(tmp_path):
    file = tmp_path / "runs.db"
    with open_store(str(file)) as store:
        record_run(store)
        log = (tmp_path / "runs.db-wal").read_bytes()
    assert log
    file.unlink()
    (tmp_path / "runs.db-wal").write_bytes(log)
    message = refusal(str(file))
    assert "runs.db is gone, but runs.db-wal with its latest runs is there" in message
    assert not file.exists()
    (tmp_path / "runs.db-wal").write_bytes(b"")
    open_store(str(file)).close()


def test_leftover_files_of_a_process_killed_while_creating_a_store_are_ignored(tmp_path):
    for name in ("runs.db.new", "runs.db.new-wal", "runs.db.new-journal"):
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / "runs.db.locks").mkdir()
    (tmp_path / "runs.db.locks" / "store").touch()
    with open_store(str(tmp_path / "runs.db")) as store:
        record_run(store)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["runs.db", "runs.db.locks"]


UNPRIVILEGED = """
import os, sys
import trialrun.store.store
from trialrun import registry
registry.store_backend("")  # load its modules while they are readable
if os.geteuid() == 0:  # root may write everywhere
    os.setuid(65534)
from trialrun.errors import StoreError
from trialrun.store import open_store
os.chdir(sys.argv[1])
for location in (None, "runs.db", "deep/runs.db"):
    try:
        open_store(location)
    except StoreError as error:
        print(error)
"""


def test_a_folder_without_write_permission_is_reported(monkeypatch):
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    folder = Path(tempfile.mkdtemp())  # other users may not enter the folders of pytest
    folder.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, str(folder)],
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        folder.rmdir()
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "the store .trialrun/runs.db cannot be made: Permission denied",
        "the store runs.db cannot be opened: Permission denied",
        "the store deep/runs.db cannot be opened: Permission denied",
    ]


@pytest.mark.postgres
def test_a_server_that_refuses_is_reported_without_the_password(postgres_url):
    wrong = postgres_url.replace(PASSWORD, "not-the-word")
    message = refusal(wrong)
    assert "password authentication failed" in message
    assert "postgresql://trialrun:***@127.0.0.1:" in message
    assert "not-the-word" not in message
    message = refusal(postgres_url.rpartition("/")[0] + "/nowhere?password=other-word")
    assert "?password=*** cannot be read: " in message
    assert "other-word" not in message
    message = refusal(f"{postgres_url}?no_such_option=1")
    assert 'invalid connection option "no_such_option"' in message
    message = refusal(f"postgresql://me:{PASSWORD}@127.0.0.1:1/x")
    assert "refused" in message
    assert PASSWORD not in message


@pytest.mark.postgres
def test_the_location_of_a_store_does_not_show_its_password(postgres_url):
    with open_store(postgres_url) as store:
        assert PASSWORD not in store.location
        assert store.location.startswith("postgresql://trialrun:***@127.0.0.1:")


@pytest.mark.postgres
def test_other_schemes_for_postgresql_are_accepted(postgres_url):
    rest = postgres_url.partition("://")[2]
    for scheme in ("postgres", "postgresql+psycopg"):
        open_store(f"{scheme}://{rest}").close()


def test_without_psycopg_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    message = refusal("postgresql://me:hidden@host/x", UsageError)
    assert "pip install '.[postgresql]'" in message
    assert "hidden" not in message


def test_connecting_to_a_server_has_a_timeout():
    def seconds(url):
        return PostgresqlDatabase(read_address(url))._options["connect_timeout"]

    assert seconds("postgresql://host/x") == 10
    assert seconds("postgresql://host/x?connect_timeout=3") == "3"


def test_database_libraries_are_loaded_only_when_needed(tmp_path):
    program = (
        "import sys\n"
        "def loaded():\n"
        "    names = ('sqlite3', 'psycopg')\n"
        "    return [name for name in names if name in sys.modules]\n"
        "from trialrun.store import open_store, new_run_id, RunRecord\n"
        "print(loaded())\n"
        "open_store(sys.argv[1]).close()\n"
        "print(loaded())\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "runs.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["[]", "['sqlite3']"]


def test_a_store_that_cannot_be_made_leaves_nothing_behind(tmp_path, monkeypatch):
    from trialrun.store.backends import sqlite

    def fails(connection, current, types):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(sqlite, "upgrade", fails)
    with pytest.raises(StoreError, match="cannot be made: database or disk is full"):
        open_store(str(tmp_path / "runs.db"))
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
