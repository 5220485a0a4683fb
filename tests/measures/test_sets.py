from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.sets import tool_f1, tool_precision, tool_recall

names = st.lists(st.sampled_from("abcdef"), max_size=8)


def without_repeats(names):
    kept = []
    for name in names:
        if name not in kept:
            kept.append(name)
    return kept


def in_both(expected, used):
    return len([name for name in without_repeats(expected) if name in used])


@property_test
@given(names, names)
def test_recall_is_the_share_of_the_expected(expected, used):
    total = len(without_repeats(expected))
    assert tool_recall(expected, used) == (in_both(expected, used) / total if total else 1.0)


@property_test
@given(names, names)
def test_precision_is_the_share_of_the_used(expected, used):
    total = len(without_repeats(used))
    if total:
        assert tool_precision(expected, used) == in_both(expected, used) / total
    else:
        assert tool_precision(expected, used) == (0.0 if expected else 1.0)


@property_test
@given(names, names)
def test_f1_is_their_harmonic_mean(expected, used):
    precision, recall = tool_precision(expected, used), tool_recall(expected, used)
    wanted = 2 / (1 / precision + 1 / recall) if precision and recall else 0.0
    assert tool_f1(expected, used) == pytest.approx(wanted, abs=1e-12)


@property_test
@given(names, names)
def test_order_and_repeats_never_matter(expected, used):
    for measure in (tool_recall, tool_precision, tool_f1):
        again = measure([*reversed(expected), *expected], [*used, *reversed(used)])
        assert again == measure(expected, used)


@pytest.mark.parametrize(
    ("expected", "used", "recall", "precision", "f1"),
    [
        ("", "", 1.0, 1.0, 1.0),
        ("a", "", 0.0, 0.0, 0.0),
        ("", "a", 1.0, 0.0, 0.0),
        ("ab", "cd", 0.0, 0.0, 0.0),
        ("ab", "ab", 1.0, 1.0, 1.0),
        ("ab", "bc", 0.5, 0.5, 0.5),
        ("abcd", "a", 0.25, 1.0, 0.4),
        ("a", "abcd", 1.0, 0.25, 0.4),
        ("abcde", "abc", 0.6, 1.0, 0.75),
    ],
)
def test_examples(expected, used, recall, precision, f1):
    assert tool_recall(expected, used) == recall
    assert tool_precision(expected, used) == precision
    assert tool_f1(expected, used) == pytest.approx(f1, abs=1e-12)


def test_any_iterable_is_accepted():
    assert tool_f1(iter(["a", "b"]), {"b": 1, "a": 2}) == 1.0
