from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.arguments import MISSING, equal, fits, is_matcher

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, 1.0, 0.5, -2.0]),
    st.sampled_from(["", "0", "1", "true", "x"]),
)
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3)
    ),
    max_leaves=6,
)


def canonical(value):
    """A form in which values are equal exactly if they are equal in JSON."""
    if isinstance(value, bool) or value is None:
        return str(value), None
    if isinstance(value, (int, float)):
        return "number", Fraction(value)
    if isinstance(value, dict):
        return "object", frozenset((key, canonical(item)) for key, item in value.items())
    if isinstance(value, list):
        return "list", tuple(map(canonical, value))
    return "text", value


@property_test
@given(documents, documents)
def test_equal_is_equality_as_in_json(left, right):
    assert equal(left, right) is (canonical(left) == canonical(right))
    assert equal(left, left) is True


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (0, None, False),
        ("", None, False),
        ("1", 1, False),
        ([1], [True], False),
        ({"p": 0}, {"p": False}, False),
        ({"p": 1, "q": 2}, {"q": 2.0, "p": 1.0}, True),
    ],
)
def test_equal_examples(left, right, found):
    assert equal(left, right) is found
    assert equal(right, left) is found


@property_test
@given(documents)
def test_every_value_matches_itself_exactly(value):
    assert fits(value, value) is True
    assert fits(value, value, exact=True) is True


@property_test
@given(documents, documents)
def test_an_exact_match_without_matchers_is_equality(left, right):
    assert fits(left, right, exact=True) is (canonical(left) == canonical(right))


@property_test
@given(st.dictionaries(st.sampled_from("pqr"), scalars), st.dictionaries(st.just("s"), scalars))
def test_further_arguments_match_unless_exact(wanted, more):
    actual = {**wanted, **more}
    assert fits(actual, wanted) is True
    assert fits(actual, wanted, exact=True) is (not more)


@property_test
@given(documents)
def test_any_matches_every_given_value(value):
    assert fits(value, {"any": True}) is True
    assert fits(value, {"absent": True}) is False


def test_a_missing_value_matches_only_absent():
    assert fits(MISSING, {"absent": True}) is True
    for wanted in ({"any": True}, None, "", {}, [], {"one_of": [None]}, {"regex": ""}):
        assert fits(MISSING, wanted) is False


@property_test
@given(documents, st.lists(documents, min_size=1, max_size=4))
def test_one_of_matches_values_equal_to_a_choice(value, choices):
    wanted = any(canonical(value) == canonical(choice) for choice in choices)
    assert fits(value, {"one_of": choices}) is wanted


@property_test
@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(0, 20))
def test_within_is_the_largest_distance(actual, wanted, distance):
    near = max(actual, wanted) - min(actual, wanted) <= distance
    assert fits(actual, {"approx": wanted, "within": distance}) is near


@pytest.mark.parametrize(
    ("actual", "wanted", "found"),
    [
        (2.5, {"approx": 2, "within": 0.5}, True),
        (2.75, {"approx": 2, "within": 0.5}, False),
        (0.1 + 0.2, {"approx": 0.3}, True),
        (0.31, {"approx": 0.3}, False),
        (True, {"approx": 1}, False),
        ("2026-05-01", {"regex": "^2026-"}, True),
        ("x2026-", {"regex": "^2026-"}, False),
        (None, {"regex": "None"}, False),
        ([{"to": "Berlin"}], [{"to": {"regex": "^B"}}], True),
        ([{"to": "Berlin"}, 1], [{"to": {"regex": "^B"}}], False),
        ({"to": "Berlin"}, [{"to": "Berlin"}], False),
        (("a", 1), ["a", 1], True),
    ],
)
def test_examples(actual, wanted, found):
    assert fits(actual, wanted) is found


def test_a_pattern_past_its_limit_is_undecided_unless_another_value_fails():
    slow, stuck = {"regex": "(a|aa)+$"}, "a" * 60 + "!"
    assert fits({"p": stuck}, {"p": slow}) is None
    assert fits({"p": stuck, "q": 1}, {"p": slow, "q": 2}) is False


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"any": True}, True),
        ({"regex": "a"}, True),
        ({"one_of": [1]}, True),
        ({"approx": 1}, True),
        ({"approx": 1, "within": 2}, True),
        ({"absent": True}, True),
        ({}, False),
        ({"within": 1}, False),
        ({"any": True, "regex": "a"}, False),
        ({"city": "Berlin"}, False),
        ("any", False),
        (["any"], False),
    ],
)
def test_is_matcher(value, found):
    assert is_matcher(value) is found
