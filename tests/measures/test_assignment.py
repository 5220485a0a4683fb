from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.assignment import largest_matching

ITEMS = range(5)
choices_of_all = st.lists(st.lists(st.sampled_from(ITEMS), unique=True, max_size=4), max_size=5)


def size_of_the_largest_matching(choices):
    """Try every assignment of items, each used at most once."""
    return max(
        sum(item in wanted for item, wanted in zip(handed, choices, strict=False))
        for handed in permutations(ITEMS)
    )


@property_test
@given(choices_of_all)
def test_the_matching_is_the_largest(choices):
    served = [item for item in largest_matching(choices) if item is not None]
    assert len(served) == size_of_the_largest_matching(choices)


@property_test
@given(choices_of_all)
def test_each_gets_one_of_its_choices_and_no_item_is_used_twice(choices):
    given_out = largest_matching(choices)
    assert len(given_out) == len(choices)
    served = [item for item in given_out if item is not None]
    assert len(served) == len(set(served))
    for item, wanted in zip(given_out, choices, strict=True):
        assert item is None or item in wanted


@pytest.mark.parametrize(
    ("choices", "given_out"),
    [
        ([], []),
        ([[]], [None]),
        ([[0], [0]], [0, None]),
        ([[0, 1], [0]], [1, 0]),
        ([[0, 1], [1, 2], [0], [2]], None),
    ],
)
def test_examples(choices, given_out):
    found = largest_matching(choices)
    if given_out is None:  # three items for four: which one gets none is not specified
        assert sorted(item for item in found if item is not None) == [0, 1, 2]
    else:
        assert found == given_out


def test_a_long_chain_needs_no_recursion():
    size = 3000
    choices = [[number, number + 1] for number in range(size)] + [[0]]
    assert None not in largest_matching(choices)
