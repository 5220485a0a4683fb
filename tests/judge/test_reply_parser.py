"""A verdict is an integer from 1 to 5, given once; any other reply is invalid."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.judge.reply_parser import JudgeError, read_arguments

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@pytest.mark.parametrize("score", [1, 2, 3, 4, 5])
def test_valid_scores_are_read(score):
    assert read_arguments({"score": score, "rationale": "so"}) == (score, "so")
    assert read_arguments(json.dumps({"score": score})) == (score, "")


@property_test
@given(anything)
def test_nothing_else_is_a_score(value):
    if type(value) is int and 1 <= value <= 5:
        assert read_arguments({"score": value})[0] == value
    else:
        with pytest.raises(JudgeError, match="the score is"):
            read_arguments({"score": value})


@property_test
@given(st.text(max_size=60) | anything)
def test_no_reply_crashes_the_parser(value):
    try:
        score, rationale = read_arguments(value)
    except JudgeError as error:
        assert error.transient
    else:
        assert score in (1, 2, 3, 4, 5)
        assert isinstance(rationale, str)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"score":' * 50_000, "9" * 5000, '{"score": 4', '{"score": 4} {}', ""]
)
def test_broken_json_is_an_error_of_the_judge(text):
    with pytest.raises(JudgeError):
        read_arguments(text)


def test_a_rationale_may_have_any_type_and_is_cut():
    assert read_arguments({"score": 4, "rationale": ["a"]}) == (4, "\"['a']\"")
    assert len(read_arguments({"score": 4, "rationale": "x" * 100_000})[1]) == 4000
