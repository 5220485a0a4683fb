"""Records of runs, plans and attempts are read back once, in order and complete."""

from __future__ import annotations

import threading
import tracemalloc
from datetime import timedelta

import pytest

from tests.postgres import execute
from tests.store.samples import NOON, attempt, no_redaction, planned, record_run, results_of, run
from trialrun import LayerStatus, Trace
from trialrun.errors import StoreError, StoreWriteError, UsageError
from trialrun.store import PlannedCase, RunState, open_store


def test_a_run_is_read_back_equal(store):
    given = run(
        kind="regrade",
        source="20260101-000000-aaaa",
        repeat=3,
        state=RunState.STOPPED,
        finished_at=NOON + timedelta(hours=1, microseconds=7),
        settings={"gates": {"min": 0.5}, "tags": ["a", None, "\0\ud800"], "limit": float("inf")},
        warnings=["one", "zwölf \N{GRINNING FACE}"],
    )
    store.create_run(given, planned(3))
    assert store.runs() == [given]
    assert list(store.plan(given.id)) == planned(3)


def test_times_are_read_back_in_utc(store):
    from datetime import timezone

    east = timezone(timedelta(hours=5))
    store.create_run(run(created_at=NOON.astimezone(east)), planned(3))
    (found,) = store.runs()
    assert found.created_at == NOON
    assert found.created_at.utcoffset() == timedelta(0)


def test_results_and_attempts_are_read_in_order_and_complete(store):
    made = run(count=3, repeat=2)
    store.create_run(made, planned(3))
    given = [attempt(position, number) for position in (2, 0) for number in (2, 1)]
    store.add(made.id, given, no_redaction)
    in_order = sorted(given, key=lambda one: (one.position, one.attempt))
    assert list(store.attempts(made.id)) == in_order
    assert list(results_of(store, made.id)) == [one.result for one in in_order]
    assert store.recorded(made.id) == {0: [(1, "pass"), (2, "pass")], 2: [(1, "pass"), (2, "pass")]}


def test_attempts_are_selected_by_position(store):
    run_id = record_run(store, count=8)
    for positions in ([5, 1, 5], {5, 1}):
        assert [one.position for one in store.attempts(run_id, positions)] == [1, 5]
        found = results_of(store, run_id, positions)
        assert [one.case_name for one in found] == ["case 1", "case 5"]
    assert list(results_of(store, run_id, [])) == []


@pytest.mark.parametrize("chosen", [None, range(0, 61, 2)])
def test_reading_in_chunks_omits_and_repeats_nothing(store, monkeypatch, chosen):
    from trialrun.store import store as module

    for size in ("_PLAN_CHUNK", "_RESULT_CHUNK", "_TRACE_CHUNK", "_POSITIONS_CHUNK"):
        monkeypatch.setattr(module, size, 4)
    made = run(count=61)
    store.create_run(made, planned(61))
    places = [(position, number) for position in range(61) for number in (1, 2, 3)]
    store.add(made.id, [attempt(*place) for place in places], no_redaction)
    wanted = [place for place in places if chosen is None or place[0] in chosen]
    assert [(one.position, one.attempt) for one in store.attempts(made.id, chosen)] == wanted
    names = [(f"case {position}", number) for position, number in wanted]
    assert [(one.case_name, one.attempt) for one in results_of(store, made.id, chosen)] == names
    assert list(store.plan(made.id)) == planned(61)


def test_an_attempt_is_never_recorded_twice(store):
    run_id = record_run(store)
    with pytest.raises(StoreWriteError, match="case 'case 1', attempt 1 is recorded already"):
        store.add(run_id, [attempt(2, 2), attempt(1)], no_redaction)
    assert store.tally(run_id) == {"pass": 3}, "all or none"
    with pytest.raises(StoreError, match="case 'case 0', attempt 7 is recorded already"):
        store.add(run_id, [attempt(0, 7), attempt(0, 7)], no_redaction)
    assert store.tally(run_id) == {"pass": 3}


def test_an_attempt_that_was_not_planned_is_refused(store):
    run_id = record_run(store)
    with pytest.raises(StoreError, match="does not plan case 'case 9', attempt 1"):
        store.add(run_id, [attempt(9)], no_redaction)
    with pytest.raises(UsageError, match="there is no run nowhere"):
        store.add("nowhere", [attempt()], no_redaction)


def test_a_run_is_recorded_with_its_whole_plan_or_not_at_all(store):
    with pytest.raises(ValueError, match="plans 3 cases, 2 were given"):
        store.create_run(run(), planned(2))
    with pytest.raises(StoreError, match="plans a position twice"):
        store.create_run(run(count=2), [planned(1)[0]] * 2)
    assert store.runs() == []
    record_run(store)
    with pytest.raises(StoreError, match=r"is in .* already"):
        store.create_run(run(), planned(3))


def test_reading_an_unknown_run_is_an_error(store):
    for question in (store.plan, store.attempts):
        with pytest.raises(UsageError, match="there is no run x in"):
            next(question("x"))
    for question in (store.recorded, store.fingerprints, store.tally):
        with pytest.raises(UsageError, match="there is no run x in"):
            question("x")
    with pytest.raises(UsageError, match="there is no run x in"):
        store.finish("x", RunState.FINISHED, NOON, [])


def test_an_attempt_without_a_trace_is_read_back_equal(store):
    made = attempt()
    made.trace = None
    store.create_run(run(), planned(3))
    store.add(run().id, [made], no_redaction)
    assert list(store.attempts(run().id)) == [made]


def test_a_stopped_run_can_be_set_to_running_again(store):
    run_id = record_run(store)
    store.finish(run_id, RunState.STOPPED, NOON, ["cut short"])
    (found,) = store.runs()
    assert (found.state, found.finished_at, found.warnings) == ("stopped", NOON, ["cut short"])
    store.finish(run_id, RunState.RUNNING, None, [])
    (found,) = store.runs()
    assert (found.state, found.finished_at, found.warnings) == ("running", None, [])


def test_fingerprints_of_attempts_are_stored(store):
    store.create_run(run(), planned(3))
    asked = [attempt(0), attempt(0, 2), attempt(2)]
    for made, fingerprint in zip(asked, ("a", "b", "c"), strict=True):
        made.fingerprint = fingerprint
    store.add(run().id, asked, no_redaction)
    assert store.fingerprints(run().id) == {0: {"a", "b"}, 2: {"c"}}
    assert [made.fingerprint for made in store.attempts(run().id)] == ["a", "b", "c"]


def test_runs_are_listed_in_the_order_in_which_they_were_begun(store):
    """Not by their times: clocks are set back, and differ between machines on one store."""
    for number in (2, 3, 1):
        record_run(store, number, spec_key="even" if number == 2 else "odd")
    assert [one.id[9:13] for one in store.runs()] == ["1201", "1203", "1202"]
    assert [one.id[9:13] for one in store.runs("odd")] == ["1201", "1203"]
    assert [one.id[9:13] for one in store.runs(limit=2)] == ["1201", "1203"]
    assert store.runs("od") == []
    assert store.find_run("latest").id[9:13] == "1201"
    # Deleting also rewrites the file of an SQLite store.
    store.delete_runs([store.find_run("latest~1").id])
    record_run(store, 0)
    assert [one.id[9:13] for one in store.runs()] == ["1200", "1201", "1202"]


def test_the_tally_counts_attempts_by_status(store):
    made = run()
    store.create_run(made, planned(3))
    statuses = [LayerStatus.PASS, LayerStatus.FAIL, LayerStatus.FAIL]
    given = [attempt(place, status=status) for place, status in enumerate(statuses)]
    assert store.tally(made.id) == {}
    store.add(made.id, given, no_redaction)
    assert store.tally(made.id) == {"pass": 1, "fail": 2}


def test_costs_are_those_of_the_last_runs_of_a_spec(store):
    costs = {1: 0.1, 2: 0.2, 3: None, 4: 0.4, 5: 0.5, 6: 0.6}
    for number, cost in costs.items():
        made = run(number, 1, kind="regrade" if number == 5 else "run")
        if number == 6:
            made.spec_key = "another"
        store.create_run(made, planned(1))
        store.add(made.id, [attempt(0, 1, cost_usd=cost)], no_redaction)
    key = ("suite", "agent", "case 0")
    assert store.costs(run().spec_key) == {key: [0.4, 0.2]}
    assert store.costs(run().spec_key, limit_runs=4) == {key: [0.4, 0.2, 0.1]}
    assert store.costs("unknown") == {}


def test_deleting_a_run_deletes_all_its_rows(store):
    first, second = record_run(store, 1), record_run(store, 2)
    assert store.delete_runs([first, first, "nowhere"]) == 1
    assert [one.id for one in store.runs()] == [second]
    assert store.tally(second) == {"pass": 3}
    with store._database.reading() as connection:
        for table in ("planned", "attempts"):
            query = f"SELECT DISTINCT run_id FROM trialrun_{table}"
            assert connection.rows(query) == [(second,)]


def test_deleting_runs_shrinks_the_file(tmp_path):
    file = tmp_path / "runs.db"
    with open_store(str(file)) as store:
        empty = file.stat().st_size
        run_id = record_run(store, count=2000)
        store.delete_runs([])
        store.delete_runs(["nowhere"])
        store.delete_runs([run_id])
        assert file.stat().st_size <= empty
        assert (tmp_path / "runs.db-wal").stat().st_size == 0


def test_sqlite_is_configured_for_durable_commits(tmp_path):
    settings = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}
    with open_store(str(tmp_path / "runs.db")) as store:
        for _ in range(2):
            with store._database.reading() as connection:
                for name, value in settings.items():
                    assert connection.value(f"PRAGMA {name}") == value


@pytest.mark.postgres
def test_connections_closed_by_the_server_are_opened_again(postgres_url):
    with open_store(postgres_url) as store:
        run_id = record_run(store)
        server, _, name = postgres_url.rpartition("/")
        execute(
            server,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{name}' AND pid != pg_backend_pid()",
        )
        store.add(run_id, [attempt(0, 2)], no_redaction)
        assert store.tally(run_id) == {"pass": 4}


def test_a_run_that_is_being_written_is_not_deleted(store):
    run_id = record_run(store)
    with (
        store.hold(run_id),
        pytest.raises(UsageError, match=f"run {run_id} is being written by another process"),
    ):
        store.delete_runs([run_id])
    assert len(store.runs()) == 1


def test_a_large_plan_is_written_and_read_in_chunks(store):
    count = 20_000
    made = run(count=count)
    store.create_run(
        run(2, 1), planned(1)
    )  # loads lazily imported modules before memory is measured
    given = (PlannedCase(position=n, suite="s", case="x" * 200) for n in range(count))
    tracemalloc.start()
    store.create_run(made, given)
    assert sum(1 for _ in store.plan(made.id)) == count
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000, "20,000 rows of 200 characters at once would be more"


def test_threads_share_a_store(store):
    made = run(count=200)
    store.create_run(made, planned(200))
    errors = []

    def write(first):
        try:
            for position in range(first, 200, 4):
                store.add(made.id, [attempt(position)], no_redaction)
                store.tally(made.id)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert store.tally(made.id) == {"pass": 200}


def test_an_attempt_that_cannot_be_encoded_is_named(store):
    store.create_run(run(), planned(3))
    deep = []
    deep.append(deep)
    for value, reason in ((deep, "nested too deeply"), (object(), "object")):
        bad = attempt(1)
        bad.trace = Trace(input="q", metadata={"value": value})
        with pytest.raises(StoreWriteError, match=f"case 'case 1', attempt 1 .*{reason}"):
            store.add(run().id, [attempt(0), bad], no_redaction)
    assert store.tally(run().id) == {}


def test_records_are_the_same_after_reopening_the_store(store_location):
    with open_store(store_location) as store:
        run_id = record_run(store)
    with open_store(store_location, create=False) as store:
        assert list(store.attempts(run_id)) == [attempt(position) for position in range(3)]


@pytest.mark.parametrize(
    "damage", ["runs SET settings = '{'", "runs SET state = 'asleep'", "planned SET tags = '[x'"]
)
def test_a_damaged_value_is_reported(store, damage):
    run_id = record_run(store)
    with store._database.writing() as connection:
        connection.execute(f"UPDATE trialrun_{damage}")
    with pytest.raises(StoreError, match="cannot be read: a value is damaged: "):
        (store.runs(), list(store.plan(run_id)))


@pytest.mark.parametrize(
    "damage",
    [
        "runs SET created_at = 5",
        "runs SET created_at = 'yesterday'",
        "runs SET spec = x'ff'",
        "planned SET suite = x'00'",
    ],
)
def test_a_value_of_the_wrong_type_is_reported_as_damaged(tmp_path, damage):
    """SQLite accepts a value of any type in any column."""
    with open_store(str(tmp_path / "runs.db")) as store:
        run_id = record_run(store)
        with store._database.writing() as connection:
            connection.execute(f"UPDATE trialrun_{damage}")
        with pytest.raises(StoreError, match="cannot be read: a value is damaged: "):
            (store.runs(), list(store.plan(run_id)))


def test_postgresql_records_a_run_that_is_stopped_resumed_and_deleted(postgres_url):
    """The only PostgreSQL test that `make test` runs: the others have the marker `postgres`."""
    with open_store(postgres_url) as store, store.hold(run().id):
        store.create_run(run(settings={"tags": ["\0", "\\"]}), planned(3))
        store.add(run().id, [attempt(0), attempt(1, status=LayerStatus.FAIL)], no_redaction)
        with pytest.raises(StoreWriteError, match="case 'case 1', attempt 1 is recorded already"):
            store.add(run().id, [attempt(2), attempt(1)], no_redaction)
        store.finish(run().id, RunState.STOPPED, NOON, ["cut short"])
        assert store.is_held(run().id)
    with open_store(postgres_url, create=False) as store:
        (found,) = store.runs(run().spec_key)
        assert (found.state, found.finished_at, found.warnings) == ("stopped", NOON, ["cut short"])
        assert found.settings == {"tags": ["\0", "\\"]}
        assert store.recorded(found.id) == {0: [(1, "pass")], 1: [(1, "fail")]}
        with store.hold(found.id):
            store.finish(found.id, RunState.RUNNING, None, [])
            store.add(found.id, [attempt(2)], no_redaction)
            store.finish(found.id, RunState.FINISHED, NOON, [])
        given = [attempt(0), attempt(1, status=LayerStatus.FAIL), attempt(2)]
        assert list(store.attempts(found.id)) == given
        assert store.costs(run().spec_key)["suite", None, "case 1"] == [0.25]
        assert store.delete_runs([found.id]) == 1
        assert store.runs() == []
