"""The connection pool: how many connections it opens, and which are reused."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.store.samples import record_run
from trialrun.errors import StoreError
from trialrun.store import connection as module
from trialrun.store import open_store
from trialrun.store.connection import Connection, Pool, PoolBusy


class Raw:
    """A fake connection that records whether it is open."""

    def __init__(self):
        self.is_open = True

    def close(self):
        self.is_open = False


@pytest.fixture
def opened():
    """Every connection that was opened, in order."""
    return []


@pytest.fixture
def pool(opened):
    def connect():
        opened.append(Raw())
        return Connection(opened[-1])

    return Pool(connect, lambda connection: getattr(connection.raw, "answers", True))


def test_a_connection_is_reused(pool, opened):
    for _ in range(3):
        with pool.connection():
            pass
    assert [raw.is_open for raw in opened] == [True]


def test_one_connection_is_never_used_twice_at_once(pool, opened):
    with pool.connection() as one, pool.connection() as other:
        assert one is not other
    assert len(opened) == 2


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_connection_is_not_reused_after_an_error(pool, opened, error):
    with pytest.raises(error), pool.connection():
        raise error
    with pool.connection():
        pass
    assert [raw.is_open for raw in opened] == [False, True]


def test_a_dead_connection_is_replaced(pool, opened):
    with pool.connection(), pool.connection():
        pass
    for raw in opened:
        raw.answers = False
    with pool.connection():
        pass
    assert [raw.is_open for raw in opened] == [False, False, True]


def test_only_some_idle_connections_are_kept(pool, opened):
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(pool.connection())
    assert (len(opened), sum(raw.is_open for raw in opened)) == (8, 5)
    pool.close()
    assert not any(raw.is_open for raw in opened)


def test_a_connection_returned_to_a_closed_pool_is_closed(pool, opened):
    with pool.connection():
        pool.close()
        assert opened[0].is_open
    assert not opened[0].is_open


def test_a_pool_has_a_maximum_number_of_connections(pool, opened, monkeypatch):
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.01)
    with ExitStack() as stack:
        for _ in range(15):
            stack.enter_context(pool.connection())
        with pytest.raises(PoolBusy, match="15 connections are in use"), pool.connection():
            raise AssertionError("there are 16")
    with pool.connection():
        assert len(opened) == 15


def test_a_failed_connection_does_not_count_towards_the_maximum(monkeypatch):
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.01)

    def refuse():
        raise OSError("refused")

    pool = Pool(refuse, lambda connection: True)
    for _ in range(20):
        with pytest.raises(OSError, match="refused"), pool.connection():
            raise AssertionError("it was refused")


def test_a_store_whose_connections_are_all_in_use_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.01)
    with open_store(str(tmp_path / "runs.db")) as store, ExitStack() as stack:
        for _ in range(15):
            stack.enter_context(store._database.reading())
        with pytest.raises(StoreError, match=r"runs\.db cannot be read: 15 connections"):
            store.runs()


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_an_interrupted_transaction_changes_nothing(store, error):
    run_id = record_run(store)
    with pytest.raises(error), store._database.writing() as connection:
        connection.execute("DELETE FROM trialrun_runs")
        raise error
    assert store.tally(run_id) == {"pass": 3}
    assert store.delete_runs([run_id]) == 1, "and nothing is locked"
