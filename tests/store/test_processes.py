"""Several processes use one store: writers, readers, holds (locks on a run), and kills."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing

import pytest

from tests.store.samples import (
    attempt,
    no_redaction,
    output_of,
    planned,
    record_run,
    results_of,
    run,
    start,
)
from trialrun.errors import UsageError
from trialrun.store import locks, open_store
from trialrun.store.connection import Connection

WRITER = """
number, location = int(sys.argv[1]), sys.argv[2]
with open_store(location) as store:
    made = run(number, 60)
    store.create_run(made, planned(60))
    print("ready", flush=True)
    for position in range(60):
        store.add(made.id, [attempt(position)], no_redaction)
"""


def test_processes_create_one_store_and_write_runs_at_once(store_location):
    processes = [start(WRITER, number, store_location) for number in range(1, 5)]
    for process in processes:
        output_of(process)
    with open_store(store_location, create=False) as store:
        assert [store.tally(one.id) for one in store.runs()] == [{"pass": 60}] * 4


def test_a_reader_works_while_a_run_is_written(store_location):
    writer = start(WRITER, 1, store_location)
    assert writer.stdout.readline() == "ready\n"
    seen = []
    with open_store(store_location, create=False) as store:
        while writer.poll() is None:
            whole = len(list(results_of(store, run(1).id)))
            assert whole <= sum(store.tally(run(1).id).values())
            seen.append(whole)
    output_of(writer)
    assert seen == sorted(seen)
    assert len(seen) > 2


def test_a_reader_does_not_block_a_writer(store_location):
    with open_store(store_location) as store, open_store(store_location) as other:
        run_id = record_run(store, count=30)
        store.create_run(run(2), planned(3))
        reading = other.attempts(run_id)
        next(reading)
        with other._database.reading() as connection:
            assert connection.value("SELECT count(*) FROM trialrun_attempts") == 30
            store.add(run(2).id, [attempt(1)], no_redaction)
        assert len(list(reading)) == 29


def test_a_reader_of_sqlite_sees_a_consistent_snapshot(tmp_path):
    location = str(tmp_path / "runs.db")
    with open_store(location) as store, open_store(location) as other:
        run_id = record_run(store, 1)
        count = "SELECT count(*) FROM trialrun_attempts"
        with other._database.reading() as connection:
            assert connection.value(count) == 3
            store.add(run_id, [attempt(0, 2)], no_redaction)
            assert connection.value(count) == 3
        with other._database.reading() as connection:
            assert connection.value(count) == 4


def test_a_writer_of_sqlite_locks_out_other_writers_from_the_start(tmp_path):
    """A transaction that reads first and then writes fails if another has written in between."""
    location = str(tmp_path / "runs.db")
    with open_store(location) as store, closing(sqlite3.connect(location, timeout=0)) as other:
        with (
            store._database.writing(),
            pytest.raises(sqlite3.OperationalError, match="database is locked"),
        ):
            other.execute("BEGIN IMMEDIATE")
        other.execute("BEGIN IMMEDIATE")


HOLDER = """
with open_store(sys.argv[1]) as store, store.hold(sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_hold_excludes_others_until_it_is_released(store, store_location):
    run_id = record_run(store)
    assert not store.is_held(run_id)
    holder = start(HOLDER, store_location, run_id)
    assert holder.stdout.readline() == "held\n"
    assert store.is_held(run_id)
    with (
        pytest.raises(UsageError, match=f"run {run_id} is being written by another process"),
        store.hold(run_id),
    ):
        raise AssertionError("two hold it")
    with store.hold("another"):
        assert store.is_held("another")
    output_of(holder)
    assert not store.is_held(run_id)
    with store.hold(run_id):
        assert store.is_held(run_id)
    assert not store.is_held(run_id)


@pytest.mark.postgres
def test_a_hold_on_a_server_is_released_before_its_connection_ends(postgres_url, monkeypatch):
    """The server may notice the end of a connection only after the next process has asked."""
    close, held = Connection.close, []

    def look_and_close(connection):
        held.append(store.is_held("x"))
        close(connection)

    with open_store(postgres_url) as store:
        with store.hold("x"):
            assert store.is_held("x")
            monkeypatch.setattr(Connection, "close", look_and_close)
        monkeypatch.undo()
    assert held == [False]


def test_a_killed_process_releases_its_hold(store, store_location):
    run_id = record_run(store)
    holder = start(HOLDER, store_location, run_id)
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with store.hold(run_id):
        pass


def test_one_process_cannot_hold_a_run_twice(store):
    with store.hold("x"), pytest.raises(UsageError), store.hold("x"):
        raise AssertionError("held twice")
    with store.hold("x"):
        pass


def test_an_error_releases_the_hold(store):
    with pytest.raises(KeyError), store.hold("x"):
        raise KeyError
    assert not store.is_held("x")


KILLED = """
import os, signal
with open_store(sys.argv[1]) as store:
    made = run(1, 60)
    store.create_run(made, planned(60))
    for position in range(0, 20, 2):
        store.add(made.id, [attempt(position), attempt(position + 1)], no_redaction)
    print("recorded", flush=True)
    for position in range(20, 60, 2):
        store.add(made.id, [attempt(position), attempt(position + 1)], no_redaction)
"""


def test_a_kill_loses_no_recorded_batch_and_leaves_no_partial_one(store_location):
    process = start(KILLED, store_location)
    assert process.stdout.readline() == "recorded\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with open_store(store_location, create=False) as store:
        found = [one.position for one in store.attempts(run(1).id)]
        assert found == list(range(len(found)))
        assert len(found) >= 20
        assert len(found) % 2 == 0
        store.add(run(1).id, [attempt(59, 2)], no_redaction)


def test_checking_a_lock_does_not_prevent_acquiring_it(tmp_path):
    """While another process checks a lock all the time, it can be acquired and released."""
    checker = start(
        """
        from pathlib import Path
        from trialrun.store.locks import is_locked
        print("looking", flush=True)
        while True:
            is_locked(Path(sys.argv[1]))
        """,
        tmp_path / "lock",
    )
    assert checker.stdout.readline() == "looking\n"
    try:
        for _ in range(200):
            descriptor = locks.acquire(tmp_path / "lock", wait=False)
            assert descriptor is not None
            locks.release(tmp_path / "lock", descriptor)
    finally:
        checker.kill()
        checker.communicate()


def test_a_lock_is_held_by_one_at_a_time(tmp_path):
    """Each process adds 1 to a number in a file, which is correct only one at a time."""
    program = """
    import time
    from pathlib import Path
    from trialrun.store import locks
    folder = Path(sys.argv[1])
    for _ in range(60):
        held = locks.acquire(folder / "lock", wait=True)
        number = int((folder / "number").read_text())
        time.sleep(0.0005)
        (folder / "number").write_text(str(number + 1))
        locks.release(folder / "lock", held)
    """
    (tmp_path / "number").write_text("0")
    for process in [start(program, tmp_path) for _ in range(4)]:
        output_of(process)
    assert (tmp_path / "number").read_text() == "240"
    assert not (tmp_path / "lock").exists()
