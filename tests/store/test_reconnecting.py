"""A PostgreSQL server that restarts does not end a run: what was being written is written once."""

from __future__ import annotations

import psycopg
import pytest

from tests.store.samples import attempt, no_redaction, planned, run
from trialrun.errors import StoreWriteError
from trialrun.store import open_store
from trialrun.store.backends.base import ConnectionLost

RUN = run().id

pytestmark = pytest.mark.postgres


@pytest.fixture
def restart(postgres_url):
    """Returns a function that ends every connection to the database, as a restart does."""

    def end_connections():
        with psycopg.connect(postgres_url, autocommit=True) as raw:
            raw.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    return end_connections


def restarting(store, restart, after_commit):
    """The store's inserts; the first one loses its connection, before or after its commit."""
    original = store._insert_once
    calls = []

    def insert_once(rows, asked):
        calls.append(len(rows))
        if len(calls) > 1:
            return original(rows, asked)
        if after_commit:
            original(rows, asked)
        restart()
        raise ConnectionLost("the server went away")

    store._insert_once = insert_once
    return calls


@pytest.mark.parametrize("after_commit", [False, True])
def test_attempts_are_written_once_when_the_connection_is_lost(postgres_url, restart, after_commit):
    with open_store(postgres_url) as store:
        store.create_run(run(), planned(3))
        with store.hold(RUN):
            store.watch(RUN)
            calls = restarting(store, restart, after_commit)
            store.add(RUN, [attempt(0), attempt(1)], no_redaction)
            assert calls == [2, 2]
            assert store.recorded(RUN) == {0: [(1, "pass")], 1: [(1, "pass")]}
            assert not store.verify(RUN)
            with open_store(postgres_url) as other:  # the lock was taken again
                assert other.is_held(RUN)
                with pytest.raises(Exception, match="by another process"), other.hold(RUN):
                    pass
        assert not store.is_held(RUN)


def test_an_attempt_that_is_there_already_is_refused_after_a_restart_too(postgres_url, restart):
    with open_store(postgres_url) as store:
        store.create_run(run(), planned(3))
        store.add(RUN, [attempt(0, cost_usd=9.0)], no_redaction)
        restarting(store, restart, after_commit=False)
        with pytest.raises(StoreWriteError, match="recorded already"):
            store.add(RUN, [attempt(0)], no_redaction)


def test_a_run_that_another_process_took_meanwhile_is_not_written(postgres_url, restart):
    with open_store(postgres_url) as store, open_store(postgres_url) as other:
        store.create_run(run(), planned(3))
        with store.hold(RUN):
            restart()
            with other.hold(RUN):
                assert not store._database.recovered()


def test_a_real_end_of_the_connection_is_recognized(postgres_url, restart):
    with open_store(postgres_url) as store:
        store.create_run(run(), planned(3))
        with pytest.raises(ConnectionLost), store._database.writing() as connection:
            restart()
            connection.execute("SELECT 1")
