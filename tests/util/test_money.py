from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.util.money import dollars, within

amounts = st.floats(1e-6, 1e6)


@property_test
@given(amounts)
def test_equal_is_within(amount):
    assert within(amount, amount)


@property_test
@given(amounts, st.integers(1, 1000))
def test_a_sum_of_equal_prices_is_within_their_product(price, count):
    assert within(sum([price] * count), price * count)


@property_test
@given(amounts)
def test_a_millionth_more_is_not_within(limit):
    assert not within(limit * 1.000001, limit)


@property_test
@given(amounts, amounts)
def test_away_from_the_limit_it_is_a_plain_comparison(amount, limit):
    if not math.isclose(amount, limit, rel_tol=1e-6):
        assert within(amount, limit) is (amount < limit)


def test_examples():
    assert within(0.1 + 0.2, 0.3)
    assert within(0, 0)
    assert not within(0.000001, 0)
    assert not within(0.31, 0.3)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0, "$0.00"),
        (0.02, "$0.02"),
        (0.0113, "$0.0113"),
        (0.000123, "$0.000123"),
        (1, "$1.00"),
        (12.5, "$12.50"),
        (1234.567, "$1,234.57"),
    ],
)
def test_dollars_are_formatted(amount, shown):
    assert dollars(amount) == shown


@property_test
@given(st.floats(1e-6, 1e6))
def test_formatted_dollars_are_close_to_the_amount(amount):
    shown = float(dollars(amount).removeprefix("$").replace(",", ""))
    assert shown == pytest.approx(amount, abs=0.005 if amount >= 1 else 5.1e-7)
