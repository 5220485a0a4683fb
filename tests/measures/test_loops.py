from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.loops import loop_count, most_repeated

names = st.sampled_from(["search", "grade", "a"])
values = st.one_of(st.none(), st.integers(0, 1), st.sampled_from(["0", "x"]))
arguments = st.dictionaries(st.sampled_from("pqr"), values | st.lists(values, max_size=2))
made_calls = st.lists(st.tuples(names, arguments), max_size=8)


@property_test
@given(st.lists(names, max_size=12))
def test_loops_are_calls_with_the_name_of_the_call_before(calls):
    wanted = 0
    for position in range(1, len(calls)):
        if calls[position] == calls[position - 1]:
            wanted += 1
    assert loop_count(calls) == wanted


@pytest.mark.parametrize(
    ("calls", "loops"),
    [
        (["search", "search", "grade", "grade", "grade"], 3),
        (["a", "b", "a", "b"], 0),
        (["a", "a", "b", "a", "a"], 2),
        (["a"] * 10, 9),
        (["a"], 0),
        ([], 0),
        (["a", "A"], 0),
    ],
)
def test_loop_count_examples(calls, loops):
    assert loop_count(calls) == loops


def test_loop_count_accepts_any_iterable():
    assert loop_count(name for name in ("a", "a")) == 1


@property_test
@given(made_calls)
def test_most_repeated_agrees_with_comparing_all_pairs(calls):
    counts = [sum(other == call for other in calls) for call in calls]
    found = most_repeated(calls)
    if not calls:
        assert found is None
    else:
        name, count = found
        assert count == max(counts)
        assert (name, count) in [
            (call[0], times) for call, times in zip(calls, counts, strict=True)
        ]


@property_test
@given(made_calls)
def test_the_order_of_arguments_does_not_matter(calls):
    turned = [(name, dict(reversed(given.items()))) for name, given in calls]
    assert (most_repeated(calls + turned) or ("", 0))[1] == 2 * (most_repeated(calls) or ("", 0))[1]


def test_most_repeated_examples():
    assert most_repeated([("a", {}), ("b", {}), ("a", {}), ("b", {}), ("a", {})]) == ("a", 3)
    assert most_repeated([("a", {"q": 1}), ("a", {"q": 2})]) == ("a", 1)
    assert most_repeated([("a", {"q": {"x": 1, "y": 2}}), ("a", {"q": {"y": 2, "x": 1}})]) == (
        "a",
        2,
    )
    assert most_repeated([]) is None
