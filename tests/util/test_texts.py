from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.util.texts import comparable, excerpt, normalized

SINGLE, DOUBLE = "\u2018\u2019\u201a\u201b", "\u201c\u201d\u201e\u201f"
SPACES = "\u00a0\u2007\u202f"
tricky = st.text(st.sampled_from("aA'\" \u0301\ufb01\u00b2\uff21\u212b" + SINGLE + DOUBLE + SPACES))


def normalized_step_by_step(text):
    """NFKC first, then each quote and space separately."""
    text = unicodedata.normalize("NFKC", text)
    for signs, plain in ((SINGLE, "'"), (DOUBLE, '"'), (SPACES, " ")):
        for sign in signs:
            text = text.replace(sign, plain)
    return text


@property_test
@given(tricky | st.text())
def test_normalizing_is_nfkc_with_plain_quotes_and_spaces(text):
    assert normalized(text) == normalized_step_by_step(text)


@property_test
@given(tricky | st.text())
def test_normalizing_twice_changes_nothing(text):
    assert normalized(normalized(text)) == normalized(text)


@property_test
@given(st.text())
def test_without_normalizing_only_lower_is_applied(text):
    assert comparable(text, None) == text.lower()


@property_test
@given(tricky | st.text())
def test_with_normalizing_lower_comes_last(text):
    assert comparable(text, "unicode") == normalized_step_by_step(text).lower()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("I don\u2019t", "I don't"),
        ("\u201cyes\u201d", '"yes"'),
        ("30\u00a0days", "30 days"),
        ("\ufb01le", "file"),
        ("\uff21\uff22", "AB"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_normalizing_examples(text, plain):
    assert normalized(text) == plain


@property_test
@given(st.text(), st.integers(2, 40))
def test_an_excerpt_is_one_quoted_line_of_limited_length(text, length):
    shown = excerpt(text, length)
    assert shown[0] == shown[-1] == '"'
    assert len(shown) <= length + 2
    assert len(shown.splitlines()) == 1


def test_excerpt_examples():
    assert excerpt("one\n  two") == '"one two"'
    assert excerpt("abcdef", 6) == '"abcdef"'
    assert excerpt("abcdefg", 6) == '"abcde…"'
