"""Find a run by `latest`, `latest~N`, its id or the beginning of its id."""

from __future__ import annotations

import pytest

from tests.store.samples import record_run, run
from trialrun.errors import UsageError
from trialrun.store.lookup import find


def runs():
    """Seven runs, newest first; the third belongs to another spec."""
    made = [run(number) for number in range(7, 0, -1)]
    made[2].spec_key, made[2].spec = "/other.yaml", "other.yaml"
    return made


def found(reference, spec_key=None):
    return find(reference, runs(), spec_key, "runs.db").id


def refusal(reference, spec_key=None, among=None):
    with pytest.raises(UsageError) as refused:
        find(reference, runs() if among is None else among, spec_key, "runs.db")
    return str(refused.value)


def test_latest_counts_back():
    assert found("latest") == run(7).id
    assert found("latest~0") == run(7).id
    assert found("latest~2") == run(5).id
    assert found("latest~2", run().spec_key) == run(4).id
    assert found("latest", "/other.yaml") == run(5).id


def test_a_run_is_found_by_its_id_or_its_beginning():
    assert found(run(3).id) == run(3).id
    assert found("20260504-1203") == run(3).id


def test_an_exact_id_wins_over_a_longer_one():
    longer = run(2, id=run(1).id + "x")
    assert find(run(1).id, [longer, run(1)], None, "runs.db") == run(1)


def test_several_matches_are_listed():
    message = refusal("2026")
    assert "7 runs begin with '2026'" in message
    assert ", ".join(run(number).id for number in (7, 6, 5, 4, 3)) + ", …" in message


def test_no_match_is_answered_with_similar_or_latest_ids():
    message = refusal("20260504-120300-aab3")
    assert f"did you mean {run(3).id}?" in message
    message = refusal("yesterday")
    assert "did you mean" not in message
    assert run(7).id in message
    assert run(2).id not in message
    for reference in ("", "latest~", "latest~-1", "latest~x"):
        assert "expected latest, latest~1, an id or its beginning" in refusal(reference)


def test_latest_that_goes_back_too_far_is_refused():
    assert "latest~7 goes back too far: 7 runs are recorded" in refusal("latest~7")
    assert "1 run is recorded" in refusal("latest~1", "/other.yaml")


def test_an_empty_store_is_reported():
    assert refusal("latest", among=[]) == "no runs are recorded in runs.db"
    assert refusal("latest", "/x.yaml") == "no runs of /x.yaml are recorded in runs.db"


def test_a_run_of_another_spec_is_refused():
    assert refusal(run(5).id, run().spec_key) == f"run {run(5).id} is of another spec: other.yaml"


def test_a_store_finds_its_runs(store):
    first, second = record_run(store, 1), record_run(store, 2, spec_key="other")
    assert store.find_run("latest").id == second
    assert store.find_run("latest", run().spec_key).id == first
    assert store.find_run(first[:-1]).id == first
