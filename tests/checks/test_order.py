from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, run

BOOKING = ["authenticate", ["search", "quote"], "book"]


def found(stages, *tools):
    return first("path", {"order": stages}, run(*tools))


@pytest.mark.parametrize(
    "tools",
    [
        ["authenticate", "search", "quote", "book"],
        ["authenticate", "quote", "search", "book"],
        ["log", "authenticate", "log", "search", "log", "quote", "log", "book", "log"],
        ["book", "authenticate", "search", "quote", "book"],
        ["authenticate", "search", "search", "quote", "book", "book"],
    ],
)
def test_stages_follow_each_other_and_extra_calls_are_allowed(tools):
    assert found(BOOKING, *tools).status is PASS


@pytest.mark.parametrize(
    "tools",
    [
        [],
        ["authenticate", "search", "book"],
        ["authenticate", "search", "book", "quote"],
        ["search", "authenticate", "quote", "book"],
        ["search", "quote", "book"],
        ["authenticate", "search", "quote"],
        ["book", "quote", "search", "authenticate"],
    ],
)
def test_another_order_fails(tools):
    assert found(BOOKING, *tools).status is FAIL


def test_the_message_names_the_call_that_is_missing():
    assert "`book`" in found(BOOKING, "authenticate", "search", "quote").message


def test_the_same_tool_twice_needs_two_calls():
    assert found(["a", "a"], "a").status is FAIL
    assert found(["a", "a"], "a", "a").status is PASS
    assert found([["a", "a"]], "a").status is FAIL
    assert found([["a", "a"]], "b", "a", "a").status is PASS


def test_an_early_call_does_not_prevent_a_later_match():
    assert found(["b", "a"], "a", "b", "a").status is PASS


@pytest.mark.parametrize("stages", [[], [[]], [""], [["a", ""]], "a"])
def test_invalid_stages_are_a_spec_error(stages):
    assert "order" in refusal("path", {"order": stages})
