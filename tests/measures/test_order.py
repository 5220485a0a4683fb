from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.order import first_violation

name = st.sampled_from("abc")
calls_made = st.lists(name, max_size=6)
orders = st.lists(name | st.lists(name, min_size=1, max_size=3), min_size=1, max_size=3).filter(
    lambda stages: sum(map(len, stages)) <= 5
)


def some_choice_of_calls_is_in_order(calls, stages):
    """Try every assignment of a separate call to each wanted call."""
    wanted = [(place, name) for place, stage in enumerate(stages) for name in stage]
    for chosen in permutations(range(len(calls)), len(wanted)):
        given = [(place, position) for (place, _), position in zip(wanted, chosen, strict=True)]
        if all(
            calls[position] == name for (_, name), position in zip(wanted, chosen, strict=True)
        ) and all(
            earlier < later
            for place, earlier in given
            for other_place, later in given
            if place < other_place
        ):
            return True
    return False


@property_test
@given(calls_made, orders)
def test_it_agrees_with_trying_every_choice_of_calls(calls, stages):
    holds = first_violation(calls, stages) is None
    assert holds is some_choice_of_calls_is_in_order(calls, stages)


@property_test
@given(calls_made, orders, st.integers(0, 6), st.sampled_from("abcx"))
def test_an_extra_call_never_violates_an_order(calls, stages, position, extra):
    if first_violation(calls, stages) is None:
        assert first_violation([*calls[:position], extra, *calls[position:]], stages) is None


@property_test
@given(calls_made, orders)
def test_the_order_inside_a_stage_does_not_matter(calls, stages):
    turned = [stage if isinstance(stage, str) else stage[::-1] for stage in stages]
    assert (first_violation(calls, stages) is None) is (first_violation(calls, turned) is None)


@pytest.mark.parametrize(
    ("calls", "stages", "named"),
    [
        ("", ["a"], "`a`"),
        ("ba", ["a", "b"], "`b`"),
        ("ab", [["a", "c"], "b"], "`c`"),
        ("acb", ["a", ["b", "c"], "c"], "`c`"),
    ],
)
def test_the_violation_is_named(calls, stages, named):
    assert named in first_violation(list(calls), stages)
