from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, run


def found(minimum, expected, *tools):
    block = {"min_tool_precision": minimum, "expected_tools": expected}
    return first("path", block, run(*tools))


@pytest.mark.parametrize(
    ("minimum", "status"), [(0.1, PASS), (0.5, PASS), (0.51, FAIL), (1.0, FAIL)]
)
def test_precision_equal_to_the_minimum_is_enough(minimum, status):
    assert found(minimum, ["search"], "search", "browse").status is status


def test_thirds_are_not_rounded():
    tools = ["a", "b", "c"]
    assert found(0.66, ["a", "b"], *tools).status is PASS
    assert found(0.67, ["a", "b"], *tools).status is FAIL


def test_repeats_do_not_count():
    assert found(0.5, ["search"], "browse", "browse", "browse", "search").status is PASS


def test_missing_tools_do_not_count():
    assert found(1.0, ["search", "rank"], "search").status is PASS


def test_nothing_expected_and_nothing_used_is_1():
    assert found(1.0, []).status is PASS


def test_nothing_used_but_something_expected_is_0():
    assert found(0.01, ["search"]).status is FAIL


def test_nothing_expected_but_something_used_is_0():
    assert found(0.01, [], "search").status is FAIL


def test_the_message_names_what_was_not_expected():
    assert "browse" in found(1.0, ["search"], "search", "browse").message


def test_without_expected_tools_it_is_a_spec_error():
    assert "expected_tools" in refusal("path", {"min_tool_precision": 1.0})
