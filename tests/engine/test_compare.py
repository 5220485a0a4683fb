from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.engine.compare import compare
from trialrun.errors import NothingSelected, UsageError
from trialrun.measures.comparison import mcnemar
from trialrun.model.behaviour import Call
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


def calls(*names):
    """Calls of these tools, one after the other; `name=value` has arguments."""
    found = []
    for number, name in enumerate(names):
        tool, equals, value = name.partition("=")
        arguments = {"x": value} if equals else {}
        found.append(Call(tool, arguments, reply=number))
    return found


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
    assert kinds == {"a": "broke", "c": "fixed", "d": "worse"}
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
    before = {"a": attempts("P", answer="x", calls=calls("s"), cost_usd=1.0)}
    after = {"a": attempts("P", answer="x", calls=tuple(calls("s")), cost_usd=2.0)}
    found = compared(before, after)
    assert (found.changes, found.changed, found.behaviour_unknown) == ([], False, 0)


def test_a_changed_case_has_both_answers_the_path_and_the_figures():
    two, one = calls("s", "r"), calls("s")
    old = [Seen(status=LayerStatus.PASS, answer="x", calls=two, cost_usd=1.0)] * 2
    new = [
        Seen(status=LayerStatus.PASS, answer="x", calls=two, cost_usd=2.0, total_tokens=5),
        Seen(status=LayerStatus.FAIL, answer="y", calls=one, cost_usd=4.0),
    ]
    (change,) = compared({"a": old}, {"a": new}).changes
    assert (change.attempt, change.kind) == (2, "broke")
    assert (change.before.answer, change.after.answer) == ("x", "y")
    assert (change.behaviour.missing, change.behaviour.extra) == (["r"], [])
    assert change.differing == 1
    assert (change.before.figures.cost_usd, change.after.figures.cost_usd) == (1.0, 3.0)
    assert change.after.figures.total_tokens is None  # unknown on one side


def test_an_unrecorded_path_is_neither_equal_nor_different():
    (change,) = compared({"a": attempts("P", answer="x")}, {"a": attempts("P", calls=[])}).changes
    assert change.behaviour is None
    assert change.answer_changed
    found = compared({"a": attempts("P")}, {"a": attempts("P", calls=calls("s"))})
    assert (found.changes, found.changed, found.behaviour_unknown) == ([], False, 1)
    assert [found.exit_code([gate]) for gate in ("worse", "changed")] == [0, 3]


def test_the_shown_pair_changed_like_its_case():
    before = {"a": "FPP"}
    after = {"a": "PFF"}
    (change,) = compared(before, after).changes
    assert (change.kind, change.attempt) == ("broke", 2)


# Warnings and unknown checks.


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("P", "W", "worse"),
        ("W", "P", "better"),
        ("PP", "PW", "worse"),
        ("P", "PW", "worse"),
        ("PW", "PW", None),
        ("PW", "WP", None),
        ("PP", "PE", "worse"),  # an attempt without a verdict
        ("PE", "PP", "better"),
        ("PW", "WF", "broke"),
    ],
)
def test_more_warnings_at_the_same_rate_are_worse(before, after, kind):
    found = compared({"a": before}, {"a": after})
    assert [change.kind for change in found.changes] == ([kind] if kind else [])


def test_five_cases_that_warn_now_are_worse_by_more_than_chance():
    before, after = {f"c{n}": "P" for n in range(5)}, {f"c{n}": "W" for n in range(5)}
    found = compared(before, after)
    assert found.sentence == (
        "worse: none of 5 cases broke, none fixed, 5 with new warnings or unknown checks, p = 0.03"
    )
    assert (found.broke, found.got_worse, found.pairs_broke, found.pairs_worse) == (0, 5, 0, 5)
    assert (found.exit_code(["worse"]), found.exit_code(["regression"])) == (1, 0)
    assert compared(after, before).exit_code(["worse"]) == 0


def test_a_check_that_is_newly_unknown_is_worse():
    decided = attempts("W" * 5, decided=frozenset({"path.a", "cost.b"}))
    unknown = attempts("W" * 5, decided=frozenset({"path.a"}), unknown=frozenset({"cost.b"}))
    found = compared({"a": decided}, {"a": unknown})
    assert (found.got_worse, found.exit_code(["worse"])) == (1, 1)
    assert found.changes[0].newly_unknown == ["cost.b"]
    back = compared({"a": unknown}, {"a": decided})
    assert (back.got_better, back.exit_code(["worse"])) == (1, 0)
    new = attempts("W" * 5, unknown=frozenset({"cost.c"}))  # a check that was not there before
    assert compared({"a": decided}, {"a": new}).got_worse == 0


def test_a_headline_does_not_contradict_the_pairs():
    """Two pairs, one of them better; the case is worse by its further attempts."""
    found = compared({"a": "FP"}, {"a": "PPFFF"})
    assert (found.broke, found.pairs_worse, found.pairs_better) == (1, 0, 1)
    assert found.sentence == (
        "worse: 1 of 1 case broke, none fixed, by attempts without a counterpart; "
        "equal numbers of both would show whether it is chance"
    )


def test_measures_count_all_attempts_where_their_numbers_differ():
    before = {"a": attempts("P", cost_usd=1.0)}
    after = {"a": [*attempts("P", cost_usd=1.0), *attempts("P", cost_usd=4.0)]}
    found = compared(before, after)
    assert (found.measures[0].before, found.measures[0].after) == (1.0, 2.5)


# Behaviour.


def behaving(before, after, **fields):
    """A comparison of one case whose attempts made these calls."""
    made = [[attempts("P", calls=one, **fields)[0] for one in side] for side in (before, after)]
    return compared({"a": made[0]}, {"a": made[1]})


def test_a_changed_argument_is_a_change_of_behaviour_with_the_same_verdict():
    found = behaving([calls("s", "refund=20")], [calls("s", "refund=200")])
    (change,) = found.changes
    assert change.behaviour.arguments == ['refund: x "20" → "200"']
    assert (change.kind, found.changed) == ("changed", True)
    assert found.sentence == (
        "no difference in verdicts: the one case neither broke nor fixed; "
        "1 case behaves differently"
    )
    codes = [found.exit_code([gate]) for gate in ("regression", "worse", "changed")]
    assert codes == [0, 0, 1]


def test_a_call_that_failed_and_succeeds_now_is_a_change():
    failed, fine = [Call("s", {}, error="no")], [Call("s", {})]
    for before, after in ((failed, fine), (fine, failed)):
        assert behaving([before], [after]).exit_code(["changed"]) == 1
    assert behaving([failed], [failed]).exit_code(["changed"]) == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"answer": "x"}, {"answer": "y"}),
        ({"stop": "stop"}, {"stop": "length"}),
        ({"model_calls": 3}, {"model_calls": 2}),
        ({"calls": [Call("s", {}, "a")]}, {"calls": [Call("s", {}, "b")]}),
        ({"calls": calls("a", "b")}, {"calls": calls("b", "a")}),
        ({"calls": calls("handoff to billing")}, {"calls": calls("handoff to sales")}),
    ],
)
def test_what_else_is_a_change(before, after):
    found = compared({"a": attempts("P", **{"calls": [], **before})},
                     {"a": attempts("P", **{"calls": [], **after})})  # fmt: skip
    assert found.exit_code(["changed"]) == 1
    back = compared({"a": attempts("P", **{"calls": [], **before})},
                    {"a": attempts("P", **{"calls": [], **before})})  # fmt: skip
    assert back.exit_code(["changed"]) == 0


def test_what_any_earlier_attempt_did_is_not_a_change():
    one, other = calls("a", "b"), calls("b")
    assert not behaving([one, other], [other, other, one]).changed
    found = behaving([one, other], [other, calls("b", "c")])
    (change,) = found.changes
    assert (change.attempt, change.differing) == (2, 1)
    assert (change.behaviour.missing, change.behaviour.extra) == ([], ["c"])  # from the nearest
    assert change.behaviour.matched == 1


def test_an_answer_given_before_is_not_a_change():
    before = [attempts("P", calls=calls("a"), answer=text)[0] for text in ("x", "y")]
    after = [attempts("P", calls=calls("a"), answer=text)[0] for text in ("y", "y", "x")]
    assert not compared({"a": before}, {"a": after}).changed
    after.append(attempts("P", calls=calls("a"), answer="z")[0])
    assert compared({"a": before}, {"a": after}).changes[0].attempt == 4


def test_results_that_one_side_did_not_record_are_not_compared():
    with_results = attempts("P", calls=[Call("s", {}, "a")])
    without = attempts("P", calls=[Call("s", {})], has_results=False)
    assert not compared({"a": with_results}, {"a": without}).changed


def test_arguments_that_one_side_did_not_record_are_not_known_to_be_the_same():
    found = behaving([[Call("s", None)]], [[Call("s", {"x": 1})]])
    assert (found.changed, found.behaviour_unknown, found.exit_code(["changed"])) == (False, 1, 3)
    same = behaving([[Call("s", None)]], [[Call("s", None)]])
    assert same.behaviour_unknown == 1


def test_a_number_of_model_calls_that_one_side_did_not_record_does_not_count():
    for counts in ((None, 2), (2, None)):
        one, other = (attempts("P", calls=[], model_calls=count) for count in counts)
        assert compared({"a": one}, {"a": other}).exit_code(["changed"]) == 0


def test_a_value_that_is_masked_on_one_side_is_not_known_to_be_the_same():
    plain, masked = ([Call("pay", {"amount": value})] for value in (20, "[redacted]"))
    found = behaving([plain], [masked])
    assert (found.behaviour_unknown, found.exit_code(["changed"])) == (1, 3)
    assert behaving([masked], [masked]).exit_code(["changed"]) == 0


def test_the_work_grows_with_the_number_of_attempts(monkeypatch):
    """All attempts differ: each is compared with twenty earlier ones, not with all."""
    from trialrun.engine import compared_case

    made = []
    real = compared_case.changes
    monkeypatch.setattr(compared_case, "changes", lambda *a: (made.append(1), real(*a))[1])
    for size in (40, 80):
        made.clear()
        before = [calls(f"refund={n}") for n in range(size)]
        after = [calls(f"refund={-n - 1}") for n in range(size)]
        behaving(before, after)
        assert len(made) <= size * (compared_case.MOST_NEAREST + 1)


# What was loosened.


def test_a_case_that_is_gone_is_listed_as_loosened():
    found = compared({"a": "P", "gone": "P"}, {"a": "P"})
    assert [(case.case, case.what) for case in found.loosened] == [
        ("gone", ["the case is not in the later run"])
    ]
    assert compared({"a": "P"}, {"a": "P", "new": "P"}).loosened == []
