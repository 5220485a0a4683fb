"""Stored runs: every planned attempt is reported, even when the run was cut off."""

from __future__ import annotations

import sqlite3
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.engine.conftest import says
from tests.helpers import property_test
from tests.store.samples import attempt, no_redaction, planned, run
from trialrun import LayerStatus
from trialrun.engine.stored_run import missing_attempts, stored_run
from trialrun.store import RunState, open_store

FILE = ".trialrun/runs.db"


def cut_off(folder, made, count=4, **fields):
    """A run of which only these attempts (position, number) were recorded."""
    store = open_store(str(folder / "runs.db"))
    record = run(1, count, **fields)
    store.create_run(record, planned(count))
    store.add(record.id, [attempt(position, number) for position, number in made], no_redaction)
    return store, record


def places(results):
    return [(result.case_name, result.attempt, result.status.value) for result in results]


@pytest.mark.parametrize("watched", [True, False])
def test_attempts_are_counted_without_keeping_all_of_them(tmp_path, monkeypatch, watched):
    """A run of 100,000 cases took 25 MB to be counted at its end."""
    monkeypatch.setattr("trialrun.store.store._PLAN_CHUNK", 7)  # ends within a case's attempts
    made = [(position, number) for position in range(400) for number in (1, 2)]
    store, record = cut_off(tmp_path, made, 500, repeat=2)
    with store:
        if watched:
            store.watch(record.id)
        assert [(at, number) for at, some in store.made(record.id) for number, _ in some] == made
        tracemalloc.start()
        try:
            assert len(stored_run(store, record, with_stability=False).results) == 1000
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 100 * len(made)  # as a dict of lists of tuples, they take some 180 bytes each


def test_an_attempt_that_was_not_run_is_an_error_in_its_place(tmp_path):
    store, record = cut_off(tmp_path, [(0, 1), (2, 1)])
    with store:
        found = stored_run(store, record)
        assert places(found.results) == [
            ("case 0", 1, "pass"),
            ("case 1", 1, "error"),
            ("case 2", 1, "pass"),
            ("case 3", 1, "error"),
        ]
        assert len(found.results) == 4
        assert found.exit_code() == 3
        missing = [result for result in found.results if result.status is LayerStatus.ERROR]
        assert {result.error for result in missing} == {"not run: the run was cut off"}
        assert [result.agent for result in missing] == [None, None]
        assert [result.tags for result in missing] == [("quick",), ()]
        assert missing[0] in found.results


@pytest.mark.parametrize(
    ("state", "warnings", "reason"),
    [
        (RunState.RUNNING, [], "the run was cut off"),
        (RunState.STOPPED, [], "the run was stopped"),
        (RunState.STOPPED, ["a note", "stopped: --fail-fast: x"], "--fail-fast: x"),
    ],
)
def test_the_reason_for_not_running_is_reported(tmp_path, state, warnings, reason):
    store, record = cut_off(tmp_path, [], 1, state=state, warnings=warnings)
    with store:
        (result,) = stored_run(store, record).results
        assert result.error == f"not run: {reason}"


@settings(property_test, max_examples=25)  # each creates a store
@given(st.data())
def test_every_planned_attempt_is_reported_once(tmp_path_factory, data):
    repeat = data.draw(st.integers(1, 3))
    wanted = [(position, number + 1) for position in range(4) for number in range(repeat)]
    made = data.draw(st.lists(st.sampled_from(wanted), unique=True))
    store, record = cut_off(tmp_path_factory.mktemp("store"), made, repeat=repeat)
    with store:
        found = stored_run(store, record)
        reported = [(int(one.case_name.split()[1]), one.attempt) for one in found.results]
        assert sorted(reported) == wanted
        assert len(found.results) == len(wanted)
        assert found.exit_code() == 3  # a run that was cut off has not passed, whatever it holds
        assert "this run is not finished: the run was cut off" in found.warnings
        finished = stored_run(store, replace(record, state=RunState.FINISHED))
        assert (finished.exit_code() == 0) == (len(made) == len(wanted))


@pytest.mark.parametrize(
    ("made", "state", "missing"),
    [
        ("", RunState.STOPPED, [1]),
        ("P", RunState.STOPPED, [2]),
        ("PPPP", RunState.STOPPED, []),  # 4 of 4 decide that it is above 0.5
        ("FFFF", RunState.STOPPED, []),
        ("PFPFPF", RunState.STOPPED, []),  # the maximum number of attempts
        ("PEP", RunState.RUNNING, [4]),
        ("PE", RunState.FINISHED, []),
        ("", RunState.FINISHED, [1]),
    ],
)
def test_missing_attempts_of_an_undecided_case(made, state, missing):
    statuses = {"P": "pass", "F": "fail", "E": "error"}
    record = run(1, 1, repeat=6, state=state, settings={"until_decided": 0.5})
    seen = [(number, statuses[letter]) for number, letter in enumerate(made, 1)]
    assert missing_attempts(record, seen) == missing


def test_a_cut_off_run_never_passes(project):
    project.spec(says("a", "else"), says("b"), says("c"))
    project.run("--fail-fast", "-j", 1)
    shown = project.command("show", "--format", "json")
    assert (shown.code, shown.statuses) == (1, ["fail", "error", "error"])
    exported = project.command("export")
    assert [line.count("not run: --fail-fast") for line in exported.out.splitlines()] == [0, 1, 1]
    assert "stopped" in project.command("runs").out


def damage(column):
    with sqlite3.connect(FILE) as connection:
        connection.execute(f"UPDATE trialrun_attempts SET {column} = x'0011' WHERE position = 1")
    connection.close()


@pytest.mark.parametrize("column", ["result", "trace"])
def test_a_damaged_record_is_an_error_that_names_it(project, column):
    project.spec(says("a"), says("b"), says("c"))
    assert project.run().code == 0
    damage(column)
    shown = project.command("show", "--format", "json")
    if column == "result":
        assert (shown.code, shown.by_case) == (3, {"a": "pass", "b": "error", "c": "pass"})
        assert "case 'b', attempt 1 is damaged" in shown.errors[1]
    again = project.command("regrade", "--format", "json")
    assert (again.code, again.by_case) == (3, {"a": "pass", "b": "error", "c": "pass"})
    assert "damaged" in again.errors[1]
