from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, run


def found(minimum, expected, used):
    block = {"min_tool_f1": minimum, "expected_tools": list(expected)}
    return first("path", block, run(*used))


@pytest.mark.parametrize(("minimum", "status"), [(0.8, PASS), (0.81, FAIL), (0.79, PASS)])
def test_f1_equal_to_the_minimum_is_enough(minimum, status):
    # precision 1, recall 2/3: 2 · (2/3) / (5/3) = 0.8
    assert found(minimum, "abc", "ab").status is status


@pytest.mark.parametrize(
    ("minimum", "expected", "used"),
    [
        (0.75, "abcde", "abc"),  # precision 1, recall 3/5: 2 · 3 / (5 + 3)
        (0.5, "ab", "bc"),  # precision 1/2, recall 1/2
        (0.4, "ab", "bcd"),  # precision 1/3, recall 1/2: 2 · 1 / (2 + 3)
        (0.25, "abcde", "exy"),  # precision 1/3, recall 1/5: 2 · 1 / (5 + 3)
        (1.0, "ab", "ba"),
    ],
)
def test_f1_is_exact_at_its_minimum(minimum, expected, used):
    assert found(minimum, expected, used).status is PASS


def test_nothing_in_common_is_0():
    assert found(0.01, "ab", "cd").status is FAIL


def test_both_empty_is_1():
    assert found(1.0, "", "").status is PASS


def test_one_side_empty_is_0():
    assert found(0.01, "a", "").status is FAIL
    assert found(0.01, "", "a").status is FAIL


def test_the_message_names_both_sides():
    message = found(1.0, ["search", "rank"], ["search", "browse"]).message
    assert "rank" in message and "browse" in message


def test_without_expected_tools_it_is_a_spec_error():
    assert "expected_tools" in refusal("path", {"min_tool_f1": 0.5})
