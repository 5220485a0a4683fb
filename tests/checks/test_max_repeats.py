from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, run
from trialrun import Step


def found(limit, *steps, **fields):
    return first("path", {"max_repeats": limit}, run(*steps, **fields))


def call(**arguments):
    return Step.tool_call("search", arguments)


@pytest.mark.parametrize(("limit", "status"), [(2, FAIL), (3, PASS), (4, PASS)])
def test_equal_is_within_the_limit(limit, status):
    assert found(limit, "a", "a", "a").status is status


def test_a_call_repeated_after_another_call_is_found():
    result = found(1, "a", "b", "a", "b")
    assert result.status is FAIL
    assert "2 times" in result.message


def test_other_arguments_make_a_different_call():
    assert found(1, call(q="one"), call(q="two"), call()).status is PASS


def test_the_order_of_arguments_does_not_matter():
    assert found(1, call(q="one", n=1), call(n=1, q="one")).status is FAIL


def test_the_order_inside_nested_arguments_does_not_matter():
    nested = [call(filter={"a": 1, "b": 2}), call(filter={"b": 2, "a": 1})]
    assert found(1, *nested).status is FAIL


def test_the_order_of_a_list_matters():
    assert found(1, call(ids=[1, 2]), call(ids=[2, 1])).status is PASS


def test_text_and_number_are_not_the_same_argument():
    assert found(1, call(n=1), call(n="1")).status is PASS


def test_the_same_arguments_of_another_tool_do_not_count():
    assert found(1, Step.tool_call("a", {"q": 1}), Step.tool_call("b", {"q": 1})).status is PASS


def test_a_run_without_calls_repeats_nothing():
    assert found(1).status is PASS


@pytest.mark.parametrize("kind", ["tool_calls", "tool_args"])
def test_unrecorded_calls_or_arguments_are_unknown(kind):
    assert found(1, "a", without=[kind]).status is UNKNOWN
