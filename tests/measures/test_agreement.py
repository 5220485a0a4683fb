"""Agreement beyond chance, compared with figures computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.agreement import Confusion, cohens_kappa

counts = st.integers(0, 40)


def test_a_worked_example():
    """20 + 15 of 50 agree, 5 + 10 do not: p_o = 0.7, p_e = (25·30 + 25·20)/2500 = 0.5, κ = 0.4.

    Wilson for 35 of 50, z² = 3.841459: the centre is (0.7 + z²/100) / (1 + z²/50) = 0.685731, and
    half the width 1.959964 · √(0.21/50 + z²/10000) / (1 + z²/50) = 0.123234: from 0.562497 to
    0.808965. As κ, by (p − 0.5)/0.5: 0.124994 to 0.617930.
    """
    table = Confusion(true_pass=20, false_pass=5, false_fail=10, true_fail=15)
    found = cohens_kappa(table)
    assert found.value == pytest.approx(0.4)
    assert found.low == pytest.approx(0.124994, abs=2e-6)
    assert found.high == pytest.approx(0.617930, abs=2e-6)
    assert (table.total, table.agreement, table.base_rate) == (50, 0.7, 0.6)


def test_full_agreement_and_no_agreement():
    assert cohens_kappa(Confusion(true_pass=5, true_fail=5)).value == 1.0
    assert cohens_kappa(Confusion(false_pass=5, false_fail=5)).value == -1.0


@pytest.mark.parametrize(
    ("passes", "failures", "low"),
    [
        # At full agreement Wilson's lower end is n / (n + z²), with z² = 3.841459.
        (1, 1, -0.315),  # 2/5.841459 = 0.342379, p_e = 0.5: 2 · 0.342379 − 1
        (5, 5, 0.444936),  # 10/13.841459 = 0.722467: 2 · 0.722467 − 1
        (10, 10, 0.677750),  # 20/23.841459 = 0.838875: 2 · 0.838875 − 1
        (15, 5, 0.570333),  # p_e = (15² + 5²)/20² = 0.625: (0.838875 − 0.625)/0.375
        (100, 100, 0.962309),  # 200/203.841459 = 0.981155
    ],
)
def test_full_agreement_on_few_labels_is_not_certain(passes, failures, low):
    """The standard error √(p_o(1 − p_o)/n) is 0 there: two labels would be enough for a judge."""
    found = cohens_kappa(Confusion(true_pass=passes, true_fail=failures))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(low, abs=3e-4)
    turned = cohens_kappa(Confusion(false_pass=passes, false_fail=passes))
    assert turned.low == -1.0 < turned.high


def test_high_agreement_may_have_a_kappa_of_0():
    """A judge that passes everything agrees with 95 of 100: κ is 0."""
    table = Confusion(true_pass=95, false_pass=5)
    assert table.agreement == 0.95
    assert cohens_kappa(table).value == pytest.approx(0.0)


def test_undefined():
    assert cohens_kappa(Confusion()) is None
    assert cohens_kappa(Confusion(true_pass=9)) is None
    assert cohens_kappa(Confusion(true_fail=9)) is None
    empty = Confusion()
    assert (empty.agreement, empty.base_rate) == (None, None)


@property_test
@given(counts, counts, counts, counts)
def test_kappa_is_inside_its_interval_and_symmetric(a, b, c, d):
    found = cohens_kappa(Confusion(a, b, c, d))
    turned = cohens_kappa(Confusion(a, c, b, d))
    if found is None:
        assert turned is None
        return
    assert found.value == pytest.approx(turned.value)
    assert -1 <= found.low <= found.value <= found.high <= 1
