from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, run


def found(wanted, *tools):
    return first("path", {"expected_tool_sequence": wanted}, run(*tools))


def test_the_calls_must_be_exactly_this_list():
    assert found(["a", "b", "a"], "a", "b", "a").status is PASS


@pytest.mark.parametrize(
    "tools", [["a"], ["a", "b", "c"], ["b", "a"], ["a", "b", "b"], ["a", "x", "b"], []]
)
def test_any_other_list_of_calls_fails(tools):
    assert found(["a", "b"], *tools).status is FAIL


def test_an_empty_list_asserts_that_no_tool_was_called():
    assert found([]).status is PASS
    assert found([], "a").status is FAIL


def test_the_message_says_which_call_is_missing():
    message = found(["search", "rank", "answer"], "search", "answer").message
    assert "`rank` is missing" in message
    assert "search" not in message and "answer" not in message


def test_the_message_says_which_call_is_extra():
    message = found(["search", "answer"], "search", "rank", "answer").message
    assert "call 2: `rank` is extra" in message
    assert ";" not in message


def test_the_message_says_which_call_was_replaced():
    message = found(["search", "answer"], "browse", "answer").message
    assert "call 1: `browse` instead of `search`" in message
    assert ";" not in message


def test_the_message_is_the_shortest_script():
    message = found(["a", "b", "c", "d"], "b", "c", "x", "d").message
    assert message.count(";") == 1  # `a` is missing, `x` is extra: two edits, not four
    assert "`a` is missing" in message and "`x` is extra" in message
