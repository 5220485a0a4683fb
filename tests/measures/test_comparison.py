from __future__ import annotations

from itertools import product
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.comparison import (
    McNemar,
    bootstrap_interval,
    cases_needed,
    mcnemar,
    more_runs_needed,
    p_text,
)

small = st.integers(0, 7)


@property_test
@given(small, small)
def test_mcnemar_equals_counting_all_tosses(broke, fixed):
    tosses = [sum(heads) for heads in product((0, 1), repeat=broke + fixed)]
    found = mcnemar(broke, fixed)
    assert found.p_worse == sum(heads >= broke for heads in tosses) / len(tosses)
    assert found.p_better == sum(heads <= broke for heads in tosses) / len(tosses)


@pytest.mark.slow
@property_test
@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_agrees_with_scipy(broke, fixed):
    stats = pytest.importorskip("scipy.stats")
    found = mcnemar(broke, fixed)
    if broke + fixed:
        for alternative, p in (("two-sided", found.p_two_sided), ("greater", found.p_worse)):
            wanted = stats.binomtest(broke, broke + fixed, alternative=alternative).pvalue
            assert p == pytest.approx(wanted, rel=1e-6)
    assert mcnemar(fixed, broke) == McNemar(found.p_two_sided, found.p_better, found.p_worse)


def test_mcnemar_examples():
    assert mcnemar(0, 0) == McNemar(1.0, 1.0, 1.0)
    assert mcnemar(4, 0) == McNemar(0.125, 0.0625, 1.0)
    assert mcnemar(12, 1).p_worse == 14 / 8192
    assert mcnemar(3, 3) == McNemar(1.0, 42 / 64, 42 / 64)


def test_mcnemar_with_thousands_of_pairs():
    found = mcnemar(5100, 4900)
    assert found.p_worse == pytest.approx(0.0233, abs=2e-4)  # z = 1.99 with the correction
    assert mcnemar(5000, 0).p_worse == 0.0  # 2⁻⁵⁰⁰⁰ is smaller than any float


def test_the_bootstrap_agrees_with_a_slow_reference():
    """Compare its quantiles with those of fifty thousand resamples drawn in another way."""
    draw = Random(1)
    differences = [draw.expovariate(1.0) - 0.5 for _ in range(15)]
    means = sorted(fmean(draw.choice(differences) for _ in range(15)) for _ in range(50_000))
    spread = means[48_749] - means[1_250]
    found = bootstrap_interval(differences)
    assert found == pytest.approx((means[1_250], means[48_749]), abs=0.05 * spread)
    narrow = bootstrap_interval(differences, confidence=0.5)
    assert narrow == pytest.approx((means[12_500], means[37_499]), abs=0.05 * spread)


@property_test
@given(st.lists(st.floats(-100, 100), max_size=12))
def test_the_interval_is_within_the_differences_and_repeatable(differences):
    found = bootstrap_interval(differences, resamples=200)
    assert found == bootstrap_interval(differences, resamples=200)
    if len(differences) < 2:
        assert found is None
        return
    low, high = found
    assert min(differences) - 1e-9 <= low <= high <= max(differences) + 1e-9


def test_equal_differences_have_an_interval_of_length_0():
    assert bootstrap_interval([0.1] * 7) == (0.1, 0.1)
    assert bootstrap_interval([]) is bootstrap_interval([1.0]) is None


@pytest.mark.parametrize(
    ("rate", "difference", "wanted"),
    [
        (0.1, 0.05, 312),  # (1.95996·√0.1 + 0.84162·√0.0975)² / 0.0025 = 311.9
        (0.0, 0.05, 155),  # at least d differ: (1.95996·√0.05 + 0.84162·√0.0475)² / 0.0025
        (0.3, 0.1, 234),  # (1.95996·√0.3 + 0.84162·√0.29)² / 0.01 = 233.05
    ],
)
def test_cases_needed_by_connors_formula(rate, difference, wanted):
    assert cases_needed(rate, difference) == wanted


def test_the_needed_cases_give_the_stated_power():
    """312 pairs, of which 7.5% break and 2.5% are fixed, have the stated power."""
    draw = Random(7)
    seen = 0
    for _ in range(600):
        tosses = [draw.random() for _ in range(cases_needed(0.1))]
        broke = sum(toss < 0.075 for toss in tosses)
        fixed = sum(0.075 <= toss < 0.1 for toss in tosses)
        seen += mcnemar(broke, fixed).p_two_sided < 0.05
    assert 0.7 < seen / 600 < 0.9


@pytest.mark.parametrize(
    ("broke", "fixed", "wanted"),
    [
        (4, 0, 1),  # 8 of 8: 1/256
        (2, 0, 2),  # 4 of 4 is 1/16, 6 of 6 is 1/64
        (1, 0, 4),  # 5 of 5: 1/32
        (5, 0, 0),
        (0, 4, 1),
        (3, 3, None),
        (0, 0, None),
        (21, 20, None),
        (321, 279, 0),  # z = (42 − 1) / √600 = 1.67, p = 0.047
    ],
)
def test_more_runs_needed_examples(broke, fixed, wanted):
    assert more_runs_needed(broke, fixed) == wanted


@property_test
@given(small, small, st.integers(1, 3))
def test_more_runs_needed_is_the_smallest_sufficient_number(broke, fixed, runs):
    """With multiples of the runs so far, so that nothing needs rounding."""
    further = more_runs_needed(broke * runs, fixed * runs, runs=runs)
    for number in range(21):
        test = mcnemar(broke * (runs + number), fixed * (runs + number))
        if min(test.p_worse, test.p_better) < 0.05:
            assert further == number
            return
    assert further is None


def test_more_runs_needed_handles_many_pairs():
    assert more_runs_needed(50_000, 49_990) is None


@pytest.mark.parametrize(
    ("chance", "wanted"),
    [
        (1.0, "p = 1.00"),
        (0.5, "p = 0.50"),
        (0.0625, "p = 0.06"),
        (14 / 8192, "p = 0.002"),
        (56 / 1024, "p = 0.055"),  # not 0.05: it is not below it
        (0.0461, "p = 0.046"),
        (0.04996, "p = 0.04996"),
        (0.05, "p = 0.05"),
        (0.0001, "p = 0.0001"),
        (0.00009, "p < 0.0001"),
        (0.0, "p < 0.0001"),
    ],
)
def test_p_text(chance, wanted):
    assert p_text(chance) == wanted
