from __future__ import annotations

import re
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.patterns import LIMIT_SECONDS, compiled, search

ENDLESS, ENDLESS_TEXT = "(a|aa)+$", "a" * 60 + "!"

atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", "^", "$", r"\b", "", "é"])
repeats = st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "*?", "+?"])
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({}){}".format, inner, repeats),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?={})".format, inner),
        st.builds("(?!{})".format, inner),
    ),
    max_leaves=6,
)
texts = st.text("ab1é \n", max_size=8)
EXAMPLES = [
    (r"\d+ days$", "within 30 days"),
    (r"^\d+ days", "within 30 days"),
    (r"(\w)\1", "book"),
    (r"(\w)\1", "bok"),
    ("(?i)REFUND", "refund"),
    ("(x+x+)+y", "xxxy"),
    ("a.c", "a\nc"),
    ("é", "cafe\u0301"),
]


@property_test
@given(patterns, texts)
def test_search_agrees_with_re_search(pattern, text):
    assert search(pattern, text) is (re.search(pattern, text) is not None)


@pytest.mark.parametrize(("pattern", "text"), EXAMPLES)
def test_search_agrees_in_another_thread(pattern, text):
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(search, pattern, text).result()
    assert found is (re.search(pattern, text) is not None)


@pytest.mark.parametrize("pattern", ["needle", "[a-z]+needle", "(hay)*needle"])
def test_a_long_text_is_searched_to_its_end(pattern):
    text = "hay " * 1000
    assert search(pattern, text) is False
    assert search(pattern, text + "hayneedle") is True


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (ENDLESS, ENDLESS_TEXT),
        ("(?:aa?)+$", ENDLESS_TEXT),
        ("a*a*a*a*a*b", "a" * 2000),  # no group repeats, yet it takes length⁵ steps
        ("(?:a|aa)" * 40 + "b", "a" * 80),  # nothing repeats, yet it takes 2⁴⁰ steps
    ],
    ids=["nested", "inlined", "polynomial", "alternatives"],
)
def test_a_search_past_its_limit_is_undecided(pattern, text):
    assert search(pattern, text) is None


def test_a_search_past_its_limit_is_undecided_in_another_thread():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(search, ENDLESS, ENDLESS_TEXT).result() is None


def test_outside_of_tests_the_limit_is_one_second():
    assert LIMIT_SECONDS == 1.0  # read before the fixture of all tests makes it shorter


def test_a_search_leaves_no_timer_and_no_handler_behind():
    before = signal.getsignal(signal.SIGVTALRM)
    assert search("(a|b)+c", "ababab") is False
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) is before


def test_an_invalid_pattern_is_refused():
    with pytest.raises(re.error):
        search("(", "text")


@property_test
@given(patterns, texts)
def test_spans_agree_with_re_finditer_without_empty_matches(pattern, text):
    expected = [match.span() for match in re.finditer(pattern, text) if match.group()]
    assert compiled(pattern).spans(text) == expected


def test_spans_past_the_limit_are_none_and_the_next_search_works():
    assert compiled(ENDLESS).spans(ENDLESS_TEXT) is None
    assert compiled("(?:ab)+").spans("xabab ab") == [(1, 5), (6, 8)]
