from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import Step


def booked(**arguments):
    return Step.tool_call("book", arguments)


def wanted(exact=False, **arguments):
    return {"tool": "book", "args": arguments, "exact": exact}


def found(calls, *steps, **fields):
    return first("path", {"tool_args": calls}, run(*steps, **fields))


def fits(arguments, actual, exact=False):
    return found([wanted(exact, **arguments)], booked(**actual)).status


def test_the_documented_example():
    calls = [
        {
            "tool": "book",
            "args": {"date": {"regex": "^2026-"}, "seats": {"approx": 2}, "note": {"any": True}},
            "exact": False,
        }
    ]
    assert found(calls, booked(date="2026-05-01", seats=2.0, note="aisle")).status is PASS
    assert found(calls, booked(date="2025-05-01", seats=2.0, note="aisle")).status is FAIL
    assert found(calls, booked(date="2026-05-01", seats=3, note="aisle")).status is FAIL
    assert found(calls, booked(date="2026-05-01", seats=2)).status is FAIL


def test_a_call_of_another_tool_does_not_match():
    assert found([wanted(seats=2)], Step.tool_call("cancel", {"seats": 2})).status is FAIL


def test_a_wanted_call_without_arguments_matches_any_call_of_the_tool():
    assert found([{"tool": "book"}], booked(seats=2)).status is PASS
    assert found([{"tool": "book"}]).status is FAIL


@pytest.mark.parametrize(
    ("actual", "literal", "status"),
    [
        (2, 2, PASS),
        (2.0, 2, PASS),
        (2, "2", FAIL),
        (True, 1, FAIL),
        (1, True, FAIL),
        (False, 0, FAIL),
        (None, None, PASS),
        ("a", "A", FAIL),
        ([1, 2], [1, 2], PASS),
        ([2, 1], [1, 2], FAIL),
        ([1, 2, 3], [1, 2], FAIL),
    ],
)
def test_literal_values_are_compared_as_in_json(actual, literal, status):
    assert fits({"value": literal}, {"value": actual}) is status


def test_null_differs_from_a_missing_argument():
    assert fits({"note": None}, {}) is FAIL


def test_other_arguments_are_allowed_unless_exact():
    assert fits({"seats": 2}, {"seats": 2, "note": "aisle"}) is PASS
    assert fits({"seats": 2}, {"seats": 2, "note": "aisle"}, exact=True) is FAIL
    assert fits({"seats": 2}, {"seats": 2}, exact=True) is PASS


def test_exact_without_arguments_wants_a_call_without_arguments():
    assert fits({}, {}, exact=True) is PASS
    assert fits({}, {"seats": 2}, exact=True) is FAIL


@pytest.mark.parametrize("value", [0, "", None, False, [], {"a": 1}])
def test_any_accepts_every_given_value(value):
    assert fits({"note": {"any": True}}, {"note": value}) is PASS


def test_any_needs_a_value():
    assert fits({"note": {"any": True}}, {}) is FAIL


def test_absent_accepts_only_a_missing_argument():
    assert fits({"note": {"absent": True}}, {}) is PASS
    assert fits({"note": {"absent": True}}, {"note": None}) is FAIL
    assert fits({"note": {"absent": True}}, {"seats": 1}) is PASS


def test_one_of_accepts_only_its_choices():
    assert fits({"class": {"one_of": ["first", "second"]}}, {"class": "second"}) is PASS
    assert fits({"class": {"one_of": ["first", "second"]}}, {"class": "third"}) is FAIL
    assert fits({"class": {"one_of": [1, 2]}}, {"class": True}) is FAIL


def test_regex_searches_in_text():
    assert fits({"date": {"regex": "05"}}, {"date": "2026-05-01"}) is PASS
    assert fits({"date": {"regex": "^05"}}, {"date": "2026-05-01"}) is FAIL


@pytest.mark.parametrize(
    ("actual", "within", "status"),
    [(2.5, 0.5, PASS), (1.5, 0.5, PASS), (2.51, 0.5, FAIL), (1.49, 0.5, FAIL), (2, 0, PASS)],
)
def test_approx_accepts_values_within_the_distance(actual, within, status):
    assert fits({"seats": {"approx": 2, "within": within}}, {"seats": actual}) is status


@pytest.mark.parametrize(
    ("actual", "status"),
    [(2, PASS), (2.0, PASS), (2 + 1e-12, PASS), (2.1, FAIL), ("2", FAIL), (True, FAIL)],
)
def test_approx_alone_allows_only_rounding_errors(actual, status):
    assert fits({"seats": {"approx": 2}}, {"seats": actual}) is status


def test_approx_allows_rounding_errors_of_sums():
    assert fits({"price": {"approx": 0.3}}, {"price": 0.1 + 0.2}) is PASS


def test_matchers_work_inside_nested_values():
    arguments = {"trip": {"legs": [{"to": {"regex": "^B"}}, {"to": {"any": True}}]}}
    assert fits(arguments, {"trip": {"legs": [{"to": "Berlin"}, {"to": "Rome"}], "n": 2}}) is PASS
    assert fits(arguments, {"trip": {"legs": [{"to": "Paris"}, {"to": "Rome"}]}}) is FAIL
    assert fits(arguments, {"trip": {"legs": [{"to": "Berlin"}]}}) is FAIL
    assert fits(arguments, {"trip": "Berlin"}) is FAIL


def test_each_wanted_call_needs_a_separate_call():
    assert found([wanted(seats=2), wanted(seats=2)], booked(seats=2)).status is FAIL
    assert found([wanted(seats=2)] * 2, booked(seats=2), booked(seats=2)).status is PASS


CHOOSY, EASY = wanted(seats=2), wanted(seats={"any": True})


@pytest.mark.parametrize("calls", [[CHOOSY, EASY], [EASY, CHOOSY]])
@pytest.mark.parametrize("seats", [[1, 2], [2, 1]])
def test_calls_are_matched_optimally_in_any_order(calls, seats):
    assert found(calls, *(booked(seats=number) for number in seats)).status is PASS


def test_a_long_chain_of_choices_is_resolved():
    calls = [
        wanted(seats={"one_of": [1, 2]}),
        wanted(seats={"one_of": [2, 3]}),
        wanted(seats={"one_of": [3, 4]}),
        wanted(seats=1),
    ]
    steps = [booked(seats=number) for number in (1, 2, 3, 4)]
    assert found(calls, *steps).status is PASS
    assert found(calls, *steps[:3]).status is FAIL


def test_the_message_names_the_tool_or_the_argument():
    assert "`book`" in found([wanted(seats=2)]).message
    assert "seats" in found([wanted(seats=2)], booked(seats=3)).message


def test_an_undecided_pattern_is_unknown_only_if_it_matters():
    slow = {"note": {"regex": "(a|aa)+$"}}
    stuck = booked(note="a" * 60 + "!", seats=2)
    assert found([wanted(**slow)], stuck).status is UNKNOWN
    assert found([wanted(**slow, seats=3)], stuck).status is FAIL
    assert found([wanted(**slow)], booked(note="aaa"), stuck).status is PASS


@pytest.mark.parametrize("kind", ["tool_calls", "tool_args"])
def test_unrecorded_calls_or_arguments_are_unknown(kind):
    assert found([wanted(seats=2)], booked(seats=2), without=[kind]).status is UNKNOWN


@pytest.mark.parametrize(
    "calls",
    [
        [],
        [{"args": {}}],
        [{"tool": ""}],
        [{"tool": "book", "arguments": {}}],
        [wanted(date={"regex": "("})],
        [wanted(date={"regex": 1})],
        [wanted(seats={"one_of": []})],
        [wanted(seats={"approx": "2"})],
        [wanted(seats={"approx": 2, "within": "1"})],
        [wanted(trip={"legs": [{"regex": "("}]})],
    ],
)
def test_a_call_that_could_never_match_is_a_spec_error(calls):
    assert "tool_args" in refusal("path", {"tool_args": calls})


def test_only_refuses_further_calls_of_the_named_tool():
    def judged(wanted, *steps):
        return first("path", {"tool_args": wanted}, run(*steps)).status

    one, two = Step.tool_call("book", {"seats": 1}), Step.tool_call("book", {"seats": 2})
    other = Step.tool_call("search", {"q": "x"})
    closed = {"tool": "book", "args": {"seats": 1}, "only": True}
    assert judged([closed], one) is PASS
    assert judged([closed], one, other) is PASS
    assert judged([closed], one, two) is FAIL
    assert judged([closed], one, one) is FAIL
    assert judged([closed, {"tool": "book", "args": {"seats": 2}}], two, one) is PASS
    assert judged([closed, {"tool": "search"}], one, other, other) is PASS
    assert judged([closed], one, Step.tool_call("[redacted]", {})) is UNKNOWN
