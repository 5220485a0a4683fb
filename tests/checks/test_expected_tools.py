from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, judge, outcome, refusal, run
from trialrun import Step

FIVE = ["a", "b", "c", "d", "e"]


def found(expected, *tools, **beside):
    return first("path", {"expected_tools": expected, **beside}, run(*tools))


def test_every_tool_must_be_used():
    assert found(["search", "rank"], "rank", "search").status is PASS
    assert found(["search", "rank"], "search").status is FAIL


def test_the_message_names_what_was_not_used():
    assert "rank" in found(["search", "rank"], "search").message


def test_other_tools_and_repeats_do_not_matter():
    assert found(["search", "search"], "browse", "search", "browse").status is PASS


def test_names_are_exact():
    assert found(["search"], "Search").status is FAIL
    assert found(["search"], "search_docs").status is FAIL


def test_an_empty_list_asserts_that_no_tool_was_called():
    assert found([]).status is PASS
    assert found([], "search").status is FAIL


def test_an_empty_list_asserts_it_with_any_minimum_recall():
    assert found([], "search", min_tool_recall=0.1).status is FAIL


@pytest.mark.parametrize(("used", "status"), [(4, PASS), (3, PASS), (2, FAIL), (0, FAIL)])
def test_recall_equal_to_the_minimum_is_enough(used, status):
    assert found(FIVE, *FIVE[:used], min_tool_recall=0.6).status is status


def test_each_tool_counts_once_however_often_it_is_expected():
    assert found(["a", "a", "a", "b"], "b", min_tool_recall=0.5).status is PASS
    assert found(["a", "a", "a", "b"], "a", min_tool_recall=0.51).status is FAIL


def test_a_failed_call_counts_as_used():
    assert found(["search"], Step.tool_call("search", status="failure")).status is PASS


def test_min_tool_recall_is_not_a_separate_check():
    block = {"expected_tools": ["a"], "min_tool_recall": 0.5}
    assert list(judge("path", block, run("a"))) == ["expected_tools"]


def test_the_minimum_may_set_the_severity():
    minimum = {"value": 0.5, "severity": "fail"}
    assert found(["a", "b"], "a", min_tool_recall=minimum).status is PASS
    result = found(["a", "b"], min_tool_recall=minimum)
    assert (result.status, result.severity) == ("fail", "fail")


@pytest.mark.parametrize("name", ["min_tool_recall", "min_tool_precision", "min_tool_f1"])
def test_a_minimum_without_expected_tools_is_a_spec_error(name):
    message = refusal("path", {name: 0.5})
    assert name in message and "expected_tools" in message


@pytest.mark.parametrize("minimum", [-0.1, 1.1, "1", True])
def test_a_minimum_outside_0_to_1_is_a_spec_error(minimum):
    block = {"expected_tools": ["a"], "min_tool_recall": minimum}
    assert "min_tool_recall" in refusal("path", block)


def test_default_severity_is_warn():
    block = {"expected_tools": ["a"]}
    assert outcome("path", block, run()).layers["path"].status == "warn"
    strict = {"expected_tools": {"value": ["a"], "severity": "fail"}}
    assert outcome("path", strict, run()).layers["path"].status == "fail"
