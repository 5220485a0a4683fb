"""Stores that are not there, not ours or not whole: one clear message, and never an empty store."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.postgres import PASSWORD
from tests.store.samples import attempt, filled
from trialrun.errors import StoreError, UsageError
from trialrun.store import open_store
from trialrun.store.address import read_address
from trialrun.store.backends.postgresql import PostgresqlDatabase


def refusal(location, kind=StoreError, **options):
    with pytest.raises(kind) as refused:
        open_store(location, **options)
    assert type(refused.value) is kind
    assert refused.value.exit_code == 2
    said = str(refused.value)
    assert "\n" not in said
    return said


def test_the_default_store_is_kept_out_of_repositories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    with open_store() as store:
        assert store.location == str(Path(".trialrun/runs.db"))
    assert (tmp_path / ".trialrun/.gitignore").read_text() == "*\n"
    (tmp_path / ".trialrun/.gitignore").unlink()
    open_store().close()
    assert not (tmp_path / ".trialrun/.gitignore").exists(), "who deleted it meant it"


def test_the_environment_names_the_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIALRUN_STORE", "deep/in/my.db")
    open_store().close()
    open_store("given.db").close()
    assert (tmp_path / "deep/in/my.db").exists()
    assert (tmp_path / "given.db").exists()
    assert not (tmp_path / ".trialrun").exists()


def test_a_reader_makes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    for location in (None, "some/where.db"):
        said = refusal(location, UsageError, create=False)
        assert said.startswith("no runs are recorded here: ")
        assert said.endswith(".db does not exist; `trialrun run` makes one")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.postgres
def test_a_reader_makes_no_tables_on_a_server(postgres_url):
    said = refusal(postgres_url, UsageError, create=False)
    assert "has no tables of trialrun" in said
    open_store(postgres_url).close()
    open_store(postgres_url, create=False).close()


@pytest.mark.parametrize("name", ["with space.db", "what?.db", "50%.db", "a#b.db", "ünï.db"])
def test_a_path_may_have_any_characters(tmp_path, name):
    with open_store(str(tmp_path / name)) as store:
        filled(store)
    assert {file.name for file in tmp_path.iterdir()} == {name, name + ".locks"}


def test_a_folder_is_refused(tmp_path):
    assert "is a folder; give the path of a file in it" in refusal(str(tmp_path))


def test_a_path_through_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    assert "file/runs.db cannot be opened: " in refusal(str(tmp_path / "file" / "runs.db"))
    assert "cannot be opened: File name too long" in refusal("x" * 300)
    assert "cannot be opened: " in refusal("a\0b")


@pytest.mark.parametrize("location", ["mysql://h/d", "sqlite:///x.db", "http://x"])
def test_another_scheme(location):
    said = refusal(location, UsageError)
    assert said.startswith(f"a store cannot be at {location.partition(':')[0]}://")
    assert "the path of a file (SQLite) or postgresql://user@host/database" in said


def test_an_address_that_cannot_be_read_is_not_shown():
    said = refusal("postgresql://me:hidden@host:port:9/x", UsageError)
    assert "hidden" not in said
    assert "expected postgresql:// and then user:password@host:port/database" in said


def test_a_file_of_something_else(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("These are notes, not runs. " * 100)
    before = file.read_bytes()
    assert f"the store {file} cannot be read: file is not a database" in refusal(str(file))
    assert file.read_bytes() == before


def test_a_database_of_something_else(tmp_path):
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = file.read_bytes()
    for create in (True, False):
        assert "not a store of trialrun" in refusal(str(file), create=create)
    assert file.read_bytes() == before


def test_a_store_that_was_cut_off_is_never_an_empty_one(tmp_path):
    whole = tmp_path / "whole.db"
    with open_store(str(whole)) as store:
        run_id = filled(store, count=300)
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


def test_a_store_without_its_last_byte_has_lost_at_most_that(tmp_path):
    file = tmp_path / "runs.db"
    with open_store(str(file)) as store:
        run_id = filled(store, count=300)
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
        run_id = filled(store, count=300)
    data = bytearray(file.read_bytes())
    for page in range(12, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    file.write_bytes(data)
    with (
        pytest.raises(StoreError, match=r"runs\.db cannot be read: database disk image is malf"),
        open_store(str(file)) as store,
    ):
        list(store.attempts(run_id))


def test_the_log_of_a_store_that_is_gone_is_not_played_into_a_new_one(tmp_path):
    file = tmp_path / "runs.db"
    with open_store(str(file)) as store:
        filled(store)
        log = (tmp_path / "runs.db-wal").read_bytes()
    assert log
    file.unlink()
    (tmp_path / "runs.db-wal").write_bytes(log)
    said = refusal(str(file))
    assert "runs.db is gone, but runs.db-wal with its latest runs is there" in said
    assert not file.exists()
    (tmp_path / "runs.db-wal").write_bytes(b"")
    open_store(str(file)).close()


def test_files_that_a_killed_process_left_while_making_the_store_are_ignored(tmp_path):
    for name in ("runs.db.new", "runs.db.new-wal", "runs.db.new-journal"):
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / "runs.db.locks").mkdir()
    (tmp_path / "runs.db.locks" / "store").touch()
    with open_store(str(tmp_path / "runs.db")) as store:
        filled(store)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["runs.db", "runs.db.locks"]


UNPRIVILEGED = """
import os, sys
import trialrun.store.store
from trialrun import registry
registry.store_backend("")  # while its modules can be read
if os.geteuid() == 0:  # who may write everywhere
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


def test_a_folder_that_may_not_be_written(monkeypatch):
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    folder = Path(tempfile.mkdtemp())  # pytest's own folders may not be entered by other users
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
    said = refusal(wrong)
    assert "password authentication failed" in said
    assert "postgresql://trialrun:***@127.0.0.1:" in said
    assert "not-the-word" not in said
    said = refusal(postgres_url.rpartition("/")[0] + "/nowhere?password=other-word")
    assert "?password=*** cannot be read: " in said
    assert "other-word" not in said
    said = refusal(f"{postgres_url}?no_such_option=1")
    assert 'invalid connection option "no_such_option"' in said
    said = refusal(f"postgresql://me:{PASSWORD}@127.0.0.1:1/x")
    assert "refused" in said
    assert PASSWORD not in said


@pytest.mark.postgres
def test_the_location_of_a_store_does_not_show_its_password(postgres_url):
    with open_store(postgres_url) as store:
        assert PASSWORD not in store.location
        assert store.location.startswith("postgresql://trialrun:***@127.0.0.1:")


@pytest.mark.postgres
def test_other_names_of_postgresql(postgres_url):
    rest = postgres_url.partition("://")[2]
    for scheme in ("postgres", "postgresql+psycopg"):
        open_store(f"{scheme}://{rest}").close()


def test_without_psycopg_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    said = refusal("postgresql://me:hidden@host/x", UsageError)
    assert "pip install '.[postgresql]'" in said
    assert "hidden" not in said


def test_a_server_that_does_not_answer_is_not_waited_for_without_end():
    def seconds(url):
        return PostgresqlDatabase(read_address(url))._options["connect_timeout"]

    assert seconds("postgresql://host/x") == 10
    assert seconds("postgresql://host/x?connect_timeout=3") == "3"


def test_libraries_are_loaded_when_they_are_needed(tmp_path):
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
