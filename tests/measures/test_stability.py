from __future__ import annotations

from itertools import combinations
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.stability import (
    AttemptOutcome,
    Flip,
    decided,
    flips,
    pass_at_k,
    pass_hat_k,
    settle,
    stability_of,
    wilson_interval,
)

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("passes", "attempts", "low", "high"),
    [
        (0, 1, 0.0, 0.7935),
        (1, 1, 0.2065, 1.0),
        (5, 10, 0.2366, 0.7634),
        (9, 10, 0.5958, 0.9821),
        (10, 10, 0.7225, 1.0),
    ],
)
def test_wilson_agrees_with_published_tables(passes, attempts, low, high):
    assert wilson_interval(passes, attempts) == pytest.approx((low, high), abs=5e-5)


@property_test
@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_bounds_of_wilson_meet_the_definition(count, confidence):
    """By the definition, not the formula: |p̂ − p| = z·√(p(1−p)/n) at both bounds."""
    passes, attempts = count
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = wilson_interval(passes, attempts, confidence)
    for bound in (low, high):
        away = z * (bound * (1 - bound) / attempts) ** 0.5
        assert abs(passes / attempts - bound) == pytest.approx(away, abs=1e-9)
    assert 0.0 <= low <= passes / attempts <= high <= 1.0
    assert (low == 0.0) is (passes == 0)
    assert (high == 1.0) is (passes == attempts)


@property_test
@given(counts)
def test_wilson_agrees_with_scipy(count):
    stats = pytest.importorskip("scipy.stats")
    wanted = stats.binomtest(*count).proportion_ci(0.95, method="wilson")
    assert wilson_interval(*count) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


def test_without_attempts_there_is_no_interval():
    assert wilson_interval(0, 0) is None
    assert decided(0, 0, 0.5) is None
    summary = stability_of([])
    assert (summary.attempts, summary.rate, summary.interval) == (0, None, None)
    assert (summary.pass_at, summary.pass_hat, summary.flips) == ({}, {}, [])


@property_test
@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 8))
def test_pass_at_and_pass_hat_are_shares_of_all_choices_of_k(outcomes, k):
    attempts, passes = len(outcomes), sum(outcomes)
    if k > attempts:
        assert pass_at_k(attempts, passes, k) is None
        assert pass_hat_k(attempts, passes, k) is None
        return
    choices = list(combinations(outcomes, k))
    any_passes = sum(map(any, choices)) / len(choices)
    all_pass = sum(map(all, choices)) / len(choices)
    assert pass_at_k(attempts, passes, k) == pytest.approx(any_passes, abs=1e-12)
    assert pass_hat_k(attempts, passes, k) == pytest.approx(all_pass, abs=1e-12)


def test_pass_at_k_examples():
    assert pass_at_k(5, 2, 2) == 0.7  # 1 − C(3,2)/C(5,2) = 1 − 3/10
    assert pass_hat_k(5, 2, 2) == 0.1
    assert pass_at_k(3, 3, 2) == pass_hat_k(3, 3, 2) == 1.0
    assert pass_at_k(3, 0, 2) == pass_hat_k(3, 0, 2) == 0.0
    for k in (0, -1):
        assert pass_at_k(5, 2, k) is None
        assert pass_hat_k(5, 2, k) is None


@pytest.mark.parametrize(
    ("passes", "attempts", "required", "wanted"),
    [
        (10, 10, 0.7, True),  # from 0.7225
        (10, 10, 0.9, None),
        (9, 10, 0.99, False),  # up to 0.9821
        (1, 1, 1.0, None),  # one pass is not enough to decide
        (0, 1, 0.8, False),  # up to 0.7935
        (0, 1, 0.75, None),
        (0, 5, 0.0, True),  # equal to the bound is enough
    ],
)
def test_decided(passes, attempts, required, wanted):
    assert decided(passes, attempts, required) is wanted


def verdict(status, answer="a", path=("search",), judged=("rubric",), **checks):
    return AttemptOutcome(status, answer, path, checks, frozenset(judged))


def source(before, after):
    (flip,) = flips([before, after])
    return flip.source


def test_a_change_to_a_warning_is_not_a_flip():
    assert flips([verdict("pass"), verdict("warn"), verdict("pass")]) == []
    assert flips([]) == flips([verdict("fail")]) == []


def test_flips_have_the_number_of_the_later_attempt():
    history = [verdict(status, answer=status) for status in ("pass", "fail", "fail", "warn")]
    assert flips(history) == [Flip(2, "pass", "fail", "agent"), Flip(4, "fail", "warn", "agent")]


@pytest.mark.parametrize("other", ["pass", "warn", "fail"])
@pytest.mark.parametrize("silent", ["error", "skip"])
def test_an_error_on_either_side_is_infrastructure(other, silent):
    assert source(verdict(silent), verdict(other, answer="b")) == "infrastructure"
    assert source(verdict(other), verdict(silent, answer="b")) == "infrastructure"


def test_another_answer_or_path_is_due_to_the_agent():
    assert source(verdict("pass"), verdict("fail", answer="b")) == "agent"
    assert source(verdict("pass"), verdict("fail", path=("browse",))) == "agent"


def test_another_verdict_on_the_same_run_is_due_to_the_judge():
    assert source(verdict("pass"), verdict("fail")) == "judge"
    assert source(verdict("pass", path=["search"]), verdict("fail", path=("search",))) == "judge"
    assert source(verdict("pass", rubric="pass"), verdict("fail", rubric="fail")) == "judge"


def test_different_answers_with_only_judged_differences_are_unsettled():
    before = verdict("pass", rubric="pass", max_steps="pass")
    after = verdict("fail", "b", rubric="fail", max_steps="pass")
    assert source(before, after) == "unsettled"


def test_a_check_without_a_judge_that_differs_is_due_to_the_agent():
    """Even if answer and path are the same: it took too long this time."""
    before = verdict("pass", rubric="pass", max_latency_ms="pass")
    assert source(before, verdict("fail", rubric="pass", max_latency_ms="fail")) == "agent"
    assert source(before, verdict("fail", "b", rubric="fail", max_latency_ms="fail")) == "agent"


def test_equal_answers_with_unrecorded_paths_are_unsettled():
    assert source(verdict("pass", path=None), verdict("fail", path=None)) == "unsettled"
    assert source(verdict("pass", path=None), verdict("fail", "b", path=None)) == "agent"


@pytest.mark.parametrize(
    ("first_again", "second_again", "wanted"),
    [
        (True, False, "agent"),
        (False, False, "judge"),
        (True, True, "judge"),
        (False, True, "judge"),
        (None, False, "unsettled"),
        (True, None, "unsettled"),
        (None, True, "judge"),
        (None, None, "unsettled"),
    ],
)
def test_settle(first_again, second_again, wanted):
    assert settle(True, first_again, False, second_again) == wanted
    assert settle(False, second_again, True, first_again) == wanted


def test_stability_of_a_history():
    statuses = ["pass", "error", "fail", "warn", "pass"]
    summary = stability_of([verdict(status) for status in statuses])
    assert (summary.attempts, summary.passes, summary.failures, summary.errors) == (5, 3, 1, 1)
    assert summary.rate == 0.75  # of four: an error is not a failure
    assert summary.interval == wilson_interval(3, 4)
    assert summary.pass_at == {1: 0.75, 2: 1.0, 3: 1.0, 4: 1.0}
    assert summary.pass_hat == {1: 0.75, 2: 0.5, 3: 0.25, 4: 0.0}
    assert summary.history == statuses
    assert [flip.source for flip in summary.flips] == ["infrastructure", "infrastructure", "judge"]


def test_only_errors_have_no_rate():
    summary = stability_of([verdict("error")] * 3)
    assert (summary.rate, summary.interval, summary.pass_at, summary.errors) == (None, None, {}, 3)
