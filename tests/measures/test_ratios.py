from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.ratios import reaches

wholes = st.integers(1, 200)


@property_test
@given(wholes, wholes)
def test_a_share_reaches_itself_however_it_is_computed(part, whole):
    part = min(part, whole)
    assert reaches(part / whole, part / whole)
    assert reaches(1 - (whole - part) / whole, part / whole)
    assert reaches(part / whole, 1 - (whole - part) / whole)


@property_test
@given(wholes, wholes, wholes)
def test_different_shares_are_distinguished(part, other, whole):
    assert reaches(part / whole, other / whole) is (part >= other)


@pytest.mark.parametrize(
    ("value", "minimum", "found"),
    [
        (0.0, 0.0, True),
        (1.0, 1.0, True),
        (1 - 4 / 5, 0.2, True),
        (0.1 + 0.2, 0.3, True),
        (0.2, 0.1 + 0.1, True),
        (0.799, 0.8, False),
        (0.0, 0.001, False),
    ],
)
def test_examples(value, minimum, found):
    assert reaches(value, minimum) is found
