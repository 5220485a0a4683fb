"""Runs that other people recorded: what failed is red, and of what passed only what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.regression.recorded import judged, passed

FILE = Path(__file__).parent.parent / "data" / "tau-bench" / "three-tasks.json"
READS = ["get_*", "search_*", "list_*", "calculate", "think"]


@pytest.fixture(scope="module")
def tasks():
    found = {}
    for run in json.loads(FILE.read_text()):
        found.setdefault(run["task_id"], []).append(run)
    return list(found.values())


def verdicts(tasks, any_number):
    return {
        (run["task_id"], run["trial"]): (passed(run), bool(reasons))
        for run, reasons in judged(tasks, any_number)
    }


def test_every_run_that_failed_is_red(tasks):
    found = verdicts(tasks, READS)
    failed = {at: red for at, (did_pass, red) in found.items() if not did_pass}
    assert failed == {(7, 0): True, (7, 1): True, (7, 3): True, (15, 0): True, (15, 1): True}


def test_of_those_that_passed_only_one_that_did_something_new_is_red(tasks):
    """Trial 0 of task 20 is the only one that did not hand over to a person in the end."""
    found = verdicts(tasks, READS)
    accused = [at for at, (did_pass, red) in found.items() if did_pass and red]
    assert accused == [(20, 0)]
    assert sum(did_pass for did_pass, _ in found.values()) == 6
    everything = verdicts(tasks, [*READS, "transfer_*"])
    assert not any(red for did_pass, red in everything.values() if did_pass)


def test_the_reason_names_the_argument(tasks):
    reasons = {(run["task_id"], run["trial"]): said for run, said in judged(tasks, READS)}
    assert reasons[7, 0] == [
        'update_reservation_flights: flights[0].flight_number "HAT110" → "HAT004" and 1 more'
    ]
