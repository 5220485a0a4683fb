from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.engine.compare import compare
from trialrun.errors import NothingSelected, UsageError
from trialrun.measures.comparison import mcnemar
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import LayerStatus

STATUSES = {
    "P": LayerStatus.PASS,
    "W": LayerStatus.WARN,
    "F": LayerStatus.FAIL,
    "E": LayerStatus.ERROR,
    "S": LayerStatus.SKIP,
}


def attempts(letters, **fields):
    """One attempt for each letter."""
    return [Seen(status=STATUSES[letter], **fields) for letter in letters]


def side(label="before", **cases):
    """Cases by name: letters for their attempts, or the attempts."""
    made = {
        ("suite", name): attempts(value) if isinstance(value, str) else value
        for name, value in cases.items()
    }
    return Side(label, made)


def compared(before, after, directions=None):
    return compare(side("old", **before), side("new", **after), directions or {})


def split(broke, fixed, same, times=1):
    """A comparison with these numbers of broken, fixed and unchanged cases, in each run."""
    kinds = ["PF"] * broke + ["FP"] * fixed + ["PP"] * same
    before = {f"c{number}": kind[0] * times for number, kind in enumerate(kinds)}
    after = {f"c{number}": kind[1] * times for number, kind in enumerate(kinds)}
    return compared(before, after)


def names(cases):
    return [case.case for case in cases]


@pytest.mark.parametrize(
    ("broke", "fixed", "same", "wanted"),
    [
        (
            4,
            0,
            56,
            "worse: 4 of 60 cases broke, none fixed, p = 0.06; "
            "one more run of each would settle it",
        ),
        (
            0,
            2,
            58,
            "better: 2 of 60 cases fixed, none broke, p = 0.25; "
            "2 more runs of each would settle it",
        ),
        (0, 5, 55, "better: 5 of 60 cases fixed, none broke, p = 0.03"),
        (0, 0, 60, "no difference in verdicts: none of 60 cases broke or fixed"),
        (12, 1, 47, "worse: 12 of 60 cases broke, 1 fixed, p = 0.002"),
        (1, 12, 47, "better: 12 of 60 cases fixed, 1 broke, p = 0.002"),
        (
            3,
            3,
            54,
            "mixed: 3 of 60 cases broke, 3 fixed, p = 1.00; "
            "about 312 cases would be needed to see a difference of 5 points",
        ),
        (
            8,
            2,
            50,
            "mixed: 8 of 60 cases broke, 2 fixed, p = 0.11; one more run of each would settle it",
        ),
        (20, 20, 960, "mixed: 20 of 1000 cases broke, 20 fixed, p = 1.00; "
            "a difference of 5 points would have been seen"),
        (40, 0, 20, "worse: 40 of 60 cases broke, none fixed, p < 0.0001"),
        (1, 0, 0, "worse: 1 of 1 case broke, none fixed, p = 0.50; "
            "4 more runs of each would settle it"),
    ],
)  # fmt: skip
def test_the_sentence(broke, fixed, same, wanted):
    assert split(broke, fixed, same).sentence == wanted


@property_test
@given(st.integers(0, 7), st.integers(0, 7), st.integers(0, 5))
def test_with_one_attempt_per_case_the_test_is_mcnemars(broke, fixed, same):
    if broke + fixed + same:
        found = split(broke, fixed, same)
        assert found.test == mcnemar(broke, fixed)
        assert (found.broke, found.fixed) == (broke, fixed)
        assert found.regression is (broke > 0)
        assert found.worse is (mcnemar(broke, fixed).p_worse < 0.05)


@property_test
@given(st.integers(0, 6), st.integers(0, 2), st.integers(1, 2))
def test_the_promised_number_of_runs_settles_it(broke, fixed, times):
    """The number of further runs in the sentence is enough, and one fewer is not."""
    words = split(broke, fixed, 3, times).sentence.partition("; ")[2].split()
    if "settle" in words:
        further = 1 if words[0] == "one" else int(words[0])
        test = split(broke, fixed, 3, times + further).test
        assert min(test.p_worse, test.p_better) < 0.05
        test = split(broke, fixed, 3, times + further - 1).test
        assert min(test.p_worse, test.p_better) >= 0.05


def test_equal_runs_are_rarely_called_worse():
    """Flaky cases, three runs each: no more than one comparison in twenty is called worse."""
    draw = Random(11)
    rates = [draw.random() for _ in range(30)]

    def runs():
        return {
            f"c{n}": "".join("P" if draw.random() < rate else "F" for _ in range(3))
            for n, rate in enumerate(rates)
        }

    alarms = sum(compared(runs(), runs()).worse for _ in range(600))
    assert alarms <= 45  # 30 expected at most; 45 is 2.8 standard deviations more


def test_a_case_breaks_by_its_rate_and_a_warning_passes():
    found = compared({"a": "PPP", "b": "PF", "c": "F", "d": "P"},
                     {"a": "PWF", "b": "FP", "c": "W", "d": "W"})  # fmt: skip
    kinds = {change.case: change.kind for change in found.changes}
    assert kinds == {"a": "broke", "c": "fixed", "d": "changed"}
    assert (found.broke, found.fixed, found.compared) == (1, 1, 4)
    assert (found.pairs_broke, found.pairs_fixed, found.pairs) == (2, 2, 7)
    broken = found.changes[0]
    assert (broken.before.rate, broken.after.rate) == (1.0, pytest.approx(2 / 3))
    assert broken.after.statuses == ["pass", "warn", "fail"]


def test_unpaired_attempts_can_break_a_case_but_are_not_tested():
    found = compared({"a": "P"}, {"a": "PFF"})
    assert (found.broke, found.pairs, found.pairs_broke, found.attempts_beyond) == (1, 1, 0, 2)
    assert found.exit_code(["regression"]) == 1
    assert found.sentence == (
        "worse: 1 of 1 case broke, none fixed, by attempts without a counterpart; "
        "equal numbers of both would show whether it is chance"
    )
    assert found.changes[0].after.statuses == ["pass", "fail", "fail"]
    found = compared({"a": "PFF"}, {"a": "P"})
    assert (found.fixed, found.attempts_beyond) == (1, 2)
    same = compared({"a": "PF"}, {"a": "PFPF"})
    assert (same.broke, same.fixed, same.changes) == (0, 0, [])


def test_a_pair_with_an_error_is_left_out_and_counted():
    found = compared({"a": "PEP"}, {"a": "PPE"})
    assert (found.pairs, found.pairs_without_verdict, found.broke) == (1, 2, 0)


def test_every_case_is_listed():
    before = {"both": "P", "gone": "P", "gone-error": "E", "crashed": "P", "healed": "E",
              "never": "E", "turns": "EP", "planned": "P", "late": "P"}  # fmt: skip
    after = {"both": "P", "new": "P", "crashed": attempts("E", error="timed out"), "healed": "P",
             "never": "S", "turns": "PE", "planned": "", "late": "EP"}  # fmt: skip
    found = compared(before, after)
    assert found.compared == 1
    assert names(found.only_before) == ["gone", "gone-error"]
    assert names(found.only_after) == ["new"]
    assert names(found.no_verdict_before) == ["healed", "never", "turns"]
    assert names(found.no_verdict_after) == ["crashed", "never", "turns", "planned", "late"]
    assert names(found.lost) == ["gone", "crashed", "turns", "planned", "late"]
    assert found.no_verdict_after[0].error == "timed out"


@pytest.mark.parametrize(
    ("before", "after"), [({"a": "P"}, {"b": "P"}), ({"a": "P"}, {"a": "E"}), ({}, {})]
)
def test_nothing_comparable_is_an_error(before, after):
    with pytest.raises(NothingSelected, match=r"nothing to compare: old has .* case.* new has"):
        compared(before, after)


def test_the_same_name_in_another_suite_is_another_case():
    seen = attempts("P")
    before = Side("old", {("one", "a"): seen, ("two", "a"): seen})
    found = compare(before, Side("new", {("one", "a"): seen, ("three", "a"): seen}), {})
    assert found.compared == 1
    assert [case.suite for case in (*found.only_before, *found.only_after)] == ["two", "three"]


# Exit codes.


@pytest.mark.parametrize(
    ("before", "after", "fail_on", "code"),
    [
        ({"a": "P"}, {"a": "F"}, [], 0),
        ({"a": "P"}, {"a": "F"}, ["regression"], 1),
        ({"a": "P"}, {"a": "F"}, ["worse"], 0),
        ({"a": "P"}, {"a": "F"}, ["worse", "regression"], 1),
        ({"a": "P"}, {"a": "W"}, ["worse", "regression"], 0),
        ({"a": "P", "b": "P"}, {"a": "F", "b": "E"}, ["regression"], 1),
        ({"a": "P", "b": "P"}, {"a": "P", "b": "E"}, ["regression"], 3),
        ({"a": "P", "b": "F"}, {"a": "P"}, ["worse"], 3),
        ({"a": "P", "b": "E"}, {"a": "P", "b": "E"}, ["worse"], 0),
        ({"a": "P", "b": "P"}, {"a": "P"}, [], 0),
        ({"a": "P"}, {"a": "P", "b": "E"}, ["regression"], 0),
    ],
)
def test_exit_codes(before, after, fail_on, code):
    assert compared(before, after).exit_code(fail_on) == code


def test_five_broken_cases_are_worse():
    assert split(5, 0, 3).exit_code({"worse"}) == 1
    assert split(4, 0, 3).exit_code({"worse"}) == 0


def test_a_misspelt_gate_is_refused():
    with pytest.raises(UsageError, match="cannot fail on 'regresion'; it can on regression and"):
        split(1, 0, 0).exit_code(["regresion"])


# Measures.


def measured(before, after, directions=None, **fields):
    """A comparison of cases that pass, with these values of the metric `m`."""
    return compared(
        {f"c{n}": attempts("P", metrics={"m": value}, **fields) for n, value in enumerate(before)},
        {f"c{n}": attempts("P", metrics={"m": value}, **fields) for n, value in enumerate(after)},
        directions,
    ).measures[-1]


@pytest.mark.parametrize(
    ("step", "direction", "judgement"),
    [
        (1, True, "better"),
        (1, False, "worse"),
        (1, None, "changed"),
        (-1, True, "worse"),
        (-1, False, "better"),
        (-1, None, "changed"),
        (0, False, "no clear difference"),
    ],
)
def test_a_measure_is_judged_by_its_direction(step, direction, judgement):
    found = measured(range(10), [value + step for value in range(10)], {"m": direction})
    assert found.judgement == judgement
    assert (found.before, found.after, found.difference) == (4.5, 4.5 + step, step)
    assert found.interval == (step, step)
    assert (found.pairs, found.missing, found.higher_is_better) == (10, 0, direction)


def test_an_interval_around_0_means_no_clear_difference():
    found = measured([0.0] * 10, [-1.0, 1.0] * 5, {"m": True})
    assert found.interval[0] < 0 < found.interval[1]
    assert found.judgement == "no clear difference"


def test_too_few_cases_or_differences_show_nothing():
    assert measured([1.0] * 5, [2.0] * 5, {"m": False}).judgement == "unknown"
    assert measured([1.0] * 6, [2.0] * 6, {"m": False}).judgement == "worse"
    found = measured([1.0] * 60, [2.0] * 5 + [1.0] * 55, {"m": False})
    assert found.interval[0] > 0
    assert (found.judgement, found.differing) == ("no clear difference", 5)


def test_missing_values_are_left_out_and_counted():
    found = measured([1.0, None, 3.0, 4.0], [2.0, 2.0, None, 4.0])
    assert (found.before, found.after, found.difference) == (2.5, 3.0, 0.5)
    assert (found.cases, found.pairs, found.missing) == (2, 2, 2)
    found = measured([None], [1.0])
    assert (found.before, found.after, found.difference, found.interval) == (None,) * 4
    assert (found.judgement, found.missing) == ("unknown", 1)


def test_rounding_differences_are_not_changes():
    found = measured([0.3] * 10, [0.1 + 0.2] * 10, {"m": False})
    assert (found.difference, found.judgement) == (0.0, "no clear difference")


def test_a_case_counts_once_however_often_it_ran():
    """Ten attempts at one case are not ten cases: too few to show anything."""
    before = {"a": attempts("P" * 10, cost_usd=1.0), "b": attempts("P", cost_usd=4.0)}
    after = {"a": attempts("P" * 10, cost_usd=2.0), "b": attempts("P", cost_usd=4.0)}
    cost = compared(before, after).measures[0]
    assert (cost.name, cost.before, cost.after, cost.cases) == ("cost_usd", 2.5, 3.0, 2)
    assert (cost.judgement, cost.pairs) == ("unknown", 11)


def test_cost_tokens_and_time_come_first_and_lower_is_better():
    fields = {"cost_usd": 0.5, "total_tokens": 10.0, "duration_ms": None}
    found = compared({"a": attempts("P", metrics={"z": 1.0}, **fields)},
                     {"a": attempts("P", metrics={"b": 1.0}, **fields)}).measures  # fmt: skip
    assert [(measure.name, measure.higher_is_better) for measure in found] == [
        ("cost_usd", False), ("total_tokens", False), ("duration_ms", False),
        ("z", None), ("b", None),
    ]  # fmt: skip
    assert [measure.missing for measure in found] == [0, 0, 1, 1, 1]


def test_a_costlier_agent_is_worse_with_equal_verdicts():
    before = {f"c{n}": attempts("P", cost_usd=1.0 + n) for n in range(8)}
    after = {f"c{n}": attempts("P", cost_usd=2.0 + n) for n in range(8)}
    found = compared(before, after)
    assert found.worse and not found.regression
    assert (found.exit_code(["worse"]), found.exit_code(["regression"])) == (1, 0)


# Cases.


def test_an_unchanged_case_is_not_listed_whatever_its_cost():
    before = {"a": attempts("P", answer="x", path=["s"], cost_usd=1.0)}
    after = {"a": attempts("P", answer="x", path=("s",), cost_usd=2.0)}
    assert compared(before, after).changes == []


def test_a_changed_case_has_both_answers_the_path_and_the_figures():
    old = [Seen(status=LayerStatus.PASS, answer="x", path=["s", "r"], cost_usd=1.0)] * 2
    new = [
        Seen(status=LayerStatus.PASS, answer="x", path=["s", "r"], cost_usd=2.0, total_tokens=5),
        Seen(status=LayerStatus.FAIL, answer="y", path=["s"], cost_usd=4.0),
    ]
    (change,) = compared({"a": old}, {"a": new}).changes
    assert (change.attempt, change.kind) == (2, "broke")
    assert (change.before.answer, change.after.answer) == ("x", "y")
    assert change.path_changes == ["- r (call 2)"]
    assert (change.before.figures.cost_usd, change.after.figures.cost_usd) == (1.0, 3.0)
    assert change.after.figures.total_tokens is None  # unknown on one side


def test_an_unrecorded_path_is_neither_equal_nor_different():
    (change,) = compared({"a": attempts("P", answer="x")}, {"a": attempts("P", path=[])}).changes
    assert change.path_changes is None
    assert change.answer_changed
    assert compared({"a": attempts("P")}, {"a": attempts("P", path=["s"])}).changes == []


def test_the_shown_pair_changed_like_its_case():
    before = {"a": "FPP"}
    after = {"a": "PFF"}
    (change,) = compared(before, after).changes
    assert (change.kind, change.attempt) == ("broke", 2)
