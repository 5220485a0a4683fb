from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, outcome, refusal, said

ENDLESS = "(a|aa)+$"
ENDLESS_TEXT = "a" * 60 + "!"


def found(pattern, answer):
    return first("correctness", {"regex_match": pattern}, said(answer))


def test_it_searches_anywhere_in_the_answer():
    assert found(r"\d+ days", "within 30 days").status is PASS
    assert found(r"^\d+ days", "within 30 days").status is FAIL


def test_every_pattern_of_a_list_must_be_found():
    assert found(["refund", "days$"], "refund in 30 days").status is PASS
    result = found(["refund", "weeks$"], "refund in 30 days")
    assert result.status is FAIL
    assert "weeks$" in result.message


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        ("refund", "REFUND"),  # not IGNORECASE
        ("^second", "first\nsecond"),  # not MULTILINE
        ("first.second", "first\nsecond"),  # not DOTALL
    ],
)
def test_no_flag_is_set(pattern, answer):
    assert found(pattern, answer).status is FAIL


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        ("(?i)refund", "REFUND"),
        ("(?m)^second", "first\nsecond"),
        ("(?s)first.second", "first\nsecond"),
        (r"(\w)\1", "book"),
        (r"days(?=\.)", "30 days."),
        (r"(?<!\d)30", "in 30"),
        ("a$", "a\n"),  # in Python, $ also matches before a last line break
        (r"\w+", "é"),  # in Python, \w is any letter
        ("^x*$", ""),  # an empty match counts
    ],
)
def test_the_meaning_is_that_of_python(pattern, answer):
    assert found(pattern, answer).status is PASS


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", "(?<n>a)", ["a", "("], "", [], [""]])
def test_an_invalid_pattern_is_a_spec_error(pattern):
    assert "regex_match" in refusal("correctness", {"regex_match": pattern})


def test_a_search_past_its_limit_is_unknown_and_an_error():
    result = outcome("correctness", {"regex_match": ENDLESS}, said(ENDLESS_TEXT))
    (check,) = result.layers["correctness"].checks
    assert check.status is UNKNOWN
    assert ENDLESS in check.message
    assert result.layers["correctness"].status == "error"


def test_a_search_past_its_limit_is_unknown_in_another_thread_too():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(found, ENDLESS, ENDLESS_TEXT).result().status is UNKNOWN


def test_a_pattern_that_is_not_found_fails_despite_an_undecided_one():
    assert found([ENDLESS, "refund"], ENDLESS_TEXT).status is FAIL
    assert found(["refund", ENDLESS], ENDLESS_TEXT).status is FAIL
