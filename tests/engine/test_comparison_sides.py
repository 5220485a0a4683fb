"""The sides of a comparison are read a few cases at a time."""

from __future__ import annotations

import pytest

from tests.engine.conftest import says
from trialrun.engine.compare import compare
from trialrun.engine.comparison_sides import LazyCases, run_side
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import LayerStatus


def lazy(count):
    """Cases that note which of them are read together."""
    parts = []
    keys = [("s", str(n)) for n in range(count)]

    def read(wanted):
        parts.append([case for _, case in wanted])
        return {key: [seen(key)] for key in wanted if key in keys}

    return LazyCases(lambda: iter(keys), count, keys.__contains__, read), parts


def seen(key):
    return Seen(status=LayerStatus.PASS, total_tokens=int(key[1]))


def test_cases_of_both_sides_are_read_some_at_a_time_and_each_once():
    (before, old), (after, new) = lazy(150), lazy(140)
    found = compare(Side("old", before), Side("new", after), {})
    assert (found.compared, len(found.only_before)) == (140, 10)
    assert [name for part in new for name in part] == [str(n) for n in range(140)]
    assert max(map(len, old)) == max(map(len, new)) == 64
    by_name = {change.name: change for change in found.measures}
    assert by_name["total_tokens"].before == by_name["total_tokens"].after == sum(range(140)) / 140


def test_it_is_known_which_cases_there_are_without_reading_any():
    cases, parts = lazy(3)
    assert (len(cases), ("s", "2") in cases, ("s", "3") in cases) == (3, True, False)
    assert parts == []
    with pytest.raises(KeyError):
        cases["s", "3"]


def test_a_case_that_a_run_planned_twice_is_one_case_with_both_attempts(project):
    """The positions of cases are found by hashes, of which equal ones are neighbours."""
    names = [f"c{n:02}" for n in range(30)]
    project.spec(*(says(name) for name in names))
    project.run("--repeat", "2")
    with project.store() as store:
        _, side = run_side(store, "latest")
        assert [key[1] for key in side.cases] == names
        assert len(side.cases) == 30
        assert ("spec", "c30") not in side.cases
        assert {len(side.cases[key]) for key in side.cases} == {2}


def test_runs_of_the_same_cases_in_another_order_are_the_same(project):
    names = [f"c{n:02}" for n in range(70)]
    project.spec(*(says(name) for name in names))
    project.run()
    project.spec(*(says(name) for name in reversed(names)))
    project.run()
    done = project.command("compare", "latest~1", "latest", "--fail-on", "regression")
    assert done.code == 0
    assert "none of 70 cases broke or fixed\n" in done.out
