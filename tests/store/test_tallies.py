"""The sums that triggers keep are those of the attempts, however these are written."""

from __future__ import annotations

from tests.store.samples import attempt, no_redaction, planned, record_run, run
from tests.store.test_migrations import execute_all, migrate
from trialrun import LayerStatus
from trialrun.store import open_store
from trialrun.store.tallies import Figure, RunTally


def recounted(store, run_id):
    """The slow, obvious reference: every attempt is read."""
    tally = RunTally({})
    for made in store.attempts(run_id, traces=False):
        result = made.result
        word = result.status.value
        tally.statuses[word] = tally.statuses.get(word, 0) + 1
        for name, value in (
            ("cost", result.cost_usd),
            ("tokens", result.total_tokens),
            ("duration", result.duration_ms),
        ):
            if value is not None:
                setattr(tally, name, getattr(tally, name).plus(Figure(float(value), 1)))
    return tally


def test_the_sums_are_those_of_the_attempts(store):
    first, empty = run(1, 4), run(2, 3)
    for record in (first, empty):
        store.create_run(record, planned(record.planned))
    store.add(
        first.id,
        [
            attempt(0, cost_usd=0.5, total_tokens=None),
            attempt(1, status=LayerStatus.FAIL, cost_usd=None, duration_ms=None),
            attempt(2, status=LayerStatus.WARN, total_tokens=30),
        ],
        no_redaction,
    )
    found = store.tallies.of([first.id, empty.id])
    assert found[first.id] == recounted(store, first.id)
    assert found[first.id].cost == Figure(0.75, 2)
    assert (found[first.id].passes, found[first.id].judged) == (2, 3)
    assert found[empty.id] == RunTally({})
    assert (found[empty.id].rate, found[empty.id].cost.mean) == (None, None)


def test_changed_and_deleted_attempts_are_counted(store, store_location):
    run_id = record_run(store, count=3)
    execute_all(
        store_location,
        "UPDATE trialrun_attempts SET status = 'fail', cost_usd = NULL WHERE position = 1",
        "DELETE FROM trialrun_attempts WHERE position = 2",
    )
    tally = store.tallies.of([run_id])[run_id]
    assert tally.statuses == {"pass": 1, "fail": 1}
    assert tally.cost == Figure(0.25, 1)
    assert tally.tokens == Figure(240, 2)


def test_deleting_a_run_deletes_its_sums_and_leaves_the_others(store):
    gone, kept = record_run(store, 1), record_run(store, 2)
    store.delete_runs([gone])
    assert store.tallies.of([gone])[gone] == RunTally({})
    assert store.tallies.of([kept])[kept] == recounted(store, kept)


def test_attempts_of_an_older_store_are_counted_when_it_is_migrated(store_location):
    migrate(store_location, None, "0003")
    execute_all(
        store_location,
        "INSERT INTO trialrun_runs (id, spec, spec_key, state, created_at, planned, repeat,"
        " trialrun, settings, warnings) VALUES ('old', 'a', '/a', 'finished',"
        " '2026-01-02 03:04:05', 1, 2, '0.1', '{}', '[]')",
        "INSERT INTO trialrun_planned VALUES ('old', 0, 's', NULL, 'c', '[]')",
        *(
            "INSERT INTO trialrun_attempts VALUES ('old', 0, "
            f"{number}, '', 'pass', NULL, {time}, 7, NULL, '2026-01-02 03:04:05', '', NULL)"
            for number, time in ((1, "2.5"), (2, "NULL"))
        ),
    )
    with open_store(store_location, create=False) as store:
        tally = store.tallies.of(["old"])["old"]
    assert tally.statuses == {"pass": 2}
    assert (tally.cost, tally.tokens, tally.duration) == (Figure(), Figure(14, 2), Figure(2.5, 1))


def test_the_plain_columns_of_attempts_are_read_in_order(store):
    run_id = record_run(store, count=3)
    store.add(run_id, [attempt(1, 2, LayerStatus.ERROR, error="refused")], no_redaction)
    rows = store.tallies.attempts(run_id)
    assert [(row.position, row.attempt, row.status) for row in rows] == [
        (0, 1, "pass"),
        (1, 1, "pass"),
        (1, 2, "error"),
        (2, 1, "pass"),
    ]
    assert rows[2].error == "refused"
    assert all(row.size > 100 for row in rows)


def test_planned_cases_are_read_by_position(store):
    run_id = record_run(store, count=3)
    assert [case.case for case in store.tallies.planned(run_id, [2, 0, 9])] == ["case 0", "case 2"]
