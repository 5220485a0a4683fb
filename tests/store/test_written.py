"""A run that is being written trusts only what this process wrote, and says what differs."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, suppress

import psycopg
import pytest

from tests.store.samples import attempt, no_redaction, planned, run
from trialrun import LayerStatus
from trialrun.errors import StoreError, UsageError
from trialrun.store import open_store

RUN = run().id


@contextmanager
def another_program(location):
    """A connection of another program to the store."""
    if "://" in location:
        with psycopg.connect(location) as raw:
            yield raw
    else:
        with closing(sqlite3.connect(location)) as raw, raw:
            yield raw


@pytest.fixture
def watched(store):
    """A store that watches a run with two of three attempts; the first one failed."""
    store.create_run(run(), planned(3))
    store.watch(RUN)
    made = [attempt(0, status=LayerStatus.FAIL), attempt(1, duration_ms=5, total_tokens=None)]
    store.add(RUN, made, no_redaction)
    return store


def statuses(store):
    return [(made.position, made.attempt, made.result.status.value) for made in store.attempts(RUN)]


def test_what_was_written_is_verified(watched):
    assert not watched.verify(RUN)
    assert statuses(watched) == [(0, 1, "fail"), (1, 1, "pass")]
    assert watched.recorded(RUN) == {0: [(1, "fail")], 1: [(1, "pass")]}


CHANGES = [
    "result = (SELECT result FROM trialrun_attempts WHERE position = 1)",
    "trace = (SELECT trace FROM trialrun_attempts WHERE position = 1)",
    "status = 'pass'",
    "cost_usd = 0.0",
    "fingerprint = 'another'",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_row_that_was_changed_has_no_verdict(watched, store_location, change):
    with another_program(store_location) as raw:
        raw.execute(f"UPDATE trialrun_attempts SET {change} WHERE position = 0")
    assert watched.recorded(RUN)[0] == [(1, "fail")]
    assert statuses(watched) == [(0, 1, "error"), (1, 1, "pass")]
    found = watched.verify(RUN)
    assert str(found) == "1 attempt changed by another program (case 1, attempt 1)"
    error = next(iter(watched.attempts(RUN))).result.error
    assert "it is not what this run wrote" in error
    with open_store(store_location) as later:  # --resume makes that attempt again
        assert later.recorded(RUN) == {1: [(1, "pass")]}


def test_results_are_checked_when_they_are_read_without_traces(watched, store_location):
    with another_program(store_location) as raw:
        raw.execute(f"UPDATE trialrun_attempts SET {CHANGES[0]} WHERE position = 0")
    read = [made.result.status.value for made in watched.attempts(RUN, traces=False)]
    assert read == ["error", "pass"]


def test_a_row_of_another_program_is_left_out_and_deleted(watched, store_location):
    copied = (
        "INSERT INTO trialrun_attempts SELECT run_id, 2, attempt, fingerprint, status, error,"
        " duration_ms, total_tokens, cost_usd, recorded_at, result, trace"
        " FROM trialrun_attempts WHERE position = 1"
    )
    with another_program(store_location) as raw:
        raw.execute(copied)
    assert statuses(watched) == [(0, 1, "fail"), (1, 1, "pass")]
    assert str(watched.verify(RUN)) == "1 attempt not written by this run (case 3, attempt 1)"
    with open_store(store_location) as later:
        assert sorted(later.recorded(RUN)) == [0, 1]


def test_a_row_that_is_gone_is_an_error(watched, store_location):
    with another_program(store_location) as raw:
        raw.execute("DELETE FROM trialrun_attempts WHERE position = 0")
    assert statuses(watched) == [(0, 1, "error"), (1, 1, "pass")]
    assert str(watched.verify(RUN)) == "1 attempt no longer there (case 1, attempt 1)"


def test_a_run_that_is_gone_cannot_be_verified(watched, store_location):
    with another_program(store_location) as raw:
        raw.execute("DELETE FROM trialrun_attempts")
        raw.execute("DELETE FROM trialrun_planned")
        raw.execute("DELETE FROM trialrun_runs")
    with pytest.raises(UsageError, match="there is no run"):
        watched.verify(RUN)


def test_what_a_resumed_run_found_is_watched_too(store, store_location):
    store.create_run(run(), planned(3))
    store.add(RUN, [attempt(0, status=LayerStatus.FAIL)], no_redaction)
    with open_store(store_location) as resumed:
        resumed.watch(RUN)
        resumed.add(RUN, [attempt(1)], no_redaction)
        with another_program(store_location) as raw:
            raw.execute(f"UPDATE trialrun_attempts SET {CHANGES[0]} WHERE position = 0")
        assert str(resumed.verify(RUN)).startswith("1 attempt changed")


@pytest.fixture
def file_of_watched(tmp_path):
    path = tmp_path / "folder" / "runs.db"
    with open_store(str(path)) as store:
        store.create_run(run(count=1), planned(1))
        store.watch(RUN)
        store.add(RUN, [attempt(0)], no_redaction)
        yield store, path


def empty(path):
    path.write_bytes(b"")


def overwrite(path):
    path.write_bytes(b"no database" * 1000)


def rename(path):
    path.rename(path.with_name("elsewhere.db"))


def replace_by_another_store(path):
    with open_store(str(path.with_name("other.db"))) as other:
        other.create_run(run(2, count=1), planned(1))
    path.with_name("other.db").replace(path)


@pytest.mark.parametrize("harm", [empty, overwrite, rename])
def test_a_harmed_file_is_not_verified(file_of_watched, harm):
    store, path = file_of_watched
    harm(path)
    with suppress(StoreError, UsageError):
        assert store.verify(RUN), "the record is said to be whole"


def test_a_deleted_file_is_not_verified(file_of_watched):
    store, path = file_of_watched
    path.unlink()
    with pytest.raises(StoreError, match=r"cannot be read|is gone"):
        store.verify(RUN)
    assert not path.exists()


def test_another_store_in_its_place_is_not_verified(file_of_watched):
    store, path = file_of_watched
    replace_by_another_store(path)
    with pytest.raises((StoreError, UsageError)):
        store.verify(RUN)


def test_attempts_are_known_whatever_their_numbers():
    """Repeats, gaps, and a position that another program made up: neither is lost nor costly."""
    from trialrun.store.written import Written

    def row(position, attempt, status="pass"):
        return (position, attempt, "f", status, None, None, None, None, b"result", b"trace")

    keys = [(0, 1), (0, 2), (3, 1), (3, 3), (7, 2), (10**15, 1), (-4, 1)]
    written = Written([row(*key) for key in reversed(keys)])
    assert list(written.keys()) == sorted(keys)
    assert list(written.keys([7, 0, 5])) == [(0, 1), (0, 2), (7, 2)]
    assert list(written.made()) == [(*key, "pass") for key in sorted(keys)]
    assert all(written.holds(row(*key)) for key in keys)
    assert not any(written.holds(row(*key)) for key in [(1, 1), (0, 3), (7, 1), (10**15, 2)])
    written.add([row(3, 1, "fail")])
    assert not written.holds(row(3, 1))
    assert written.holds(row(3, 1, "fail"))
    assert written.holds(row(3, 3))
    found = written.verified([row(0, 1), row(0, 2, "fail"), row(3, 1, "fail"), row(8, 1)])
    assert found.foreign == [(8, 1)]
    assert found.changed == [(0, 2)]
    assert found.missing == sorted(set(keys) - {(0, 1), (0, 2), (3, 1)})
