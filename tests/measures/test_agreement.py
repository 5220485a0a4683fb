"""Agreement beyond chance, against figures worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.agreement import Confusion, cohens_kappa

counts = st.integers(0, 40)


def test_a_table_by_hand():
    """20 and 15 alike, 5 and 10 not, of 50: p_o = 0.7, p_e = (25·30 + 25·20)/2500 = 0.5, κ = 0.4.

    SE = √(0.7 · 0.3 / (50 · 0.25)) = √0.0168 = 0.129615; 1.959964 · SE = 0.254040.
    """
    table = Confusion(true_pass=20, false_pass=5, false_fail=10, true_fail=15)
    found = cohens_kappa(table)
    assert found.value == pytest.approx(0.4)
    assert found.low == pytest.approx(0.4 - 0.254040, abs=1e-6)
    assert found.high == pytest.approx(0.4 + 0.254040, abs=1e-6)
    assert (table.total, table.agreement, table.base_rate) == (50, 0.7, 0.6)
    assert table.false_pass_rate == 0.25


def test_full_agreement_and_none():
    assert cohens_kappa(Confusion(true_pass=5, true_fail=5)).value == 1.0
    assert cohens_kappa(Confusion(false_pass=5, false_fail=5)).value == -1.0


def test_high_agreement_may_be_worth_nothing():
    """A judge that passes everything agrees with 95 of 100: κ is 0."""
    table = Confusion(true_pass=95, false_pass=5)
    assert table.agreement == 0.95
    assert cohens_kappa(table).value == pytest.approx(0.0)


def test_where_it_is_undefined():
    assert cohens_kappa(Confusion()) is None
    assert cohens_kappa(Confusion(true_pass=9)) is None
    assert cohens_kappa(Confusion(true_fail=9)) is None
    empty = Confusion()
    assert (empty.agreement, empty.base_rate, empty.false_pass_rate) == (None, None, None)


@property_test
@given(counts, counts, counts, counts)
def test_it_lies_within_its_interval_and_is_symmetric(a, b, c, d):
    found = cohens_kappa(Confusion(a, b, c, d))
    turned = cohens_kappa(Confusion(a, c, b, d))
    if found is None:
        assert turned is None
        return
    assert found.value == pytest.approx(turned.value)
    assert -1 <= found.low <= found.value <= found.high <= 1
