from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import Step


def search(result):
    return Step.tool_call("search_docs", {}, result)


def found(minimum, *steps, **fields):
    block = {"min_results": minimum, "tool": "search_docs"}
    return first("retrieval", block, run(*steps, **fields)).status


@pytest.mark.parametrize(("minimum", "status"), [(1, PASS), (2, PASS), (3, FAIL)])
def test_equal_is_enough(minimum, status):
    assert found(minimum, search(["a.md", "b.md"])) is status


def test_the_results_of_all_searches_are_counted():
    assert found(3, search(["a.md"]), search(["b.md", "c.md"])) is PASS
    assert found(4, search(["a.md"]), search(["b.md", "c.md"])) is FAIL


def test_the_results_of_other_tools_are_not_counted():
    assert found(2, search(["a.md"]), Step.tool_call("browse", {}, ["b.md"])) is FAIL


def test_fails_if_no_search_was_made():
    assert found(1) is FAIL


def test_plain_text_cannot_be_counted():
    assert found(2, search("first this, then that")) is UNKNOWN


@pytest.mark.parametrize("result", [None, 7, {"error": "timed out"}])
def test_a_missing_or_unreadable_result_is_unknown(result):
    assert found(1, search(result)) is UNKNOWN
    assert found(2, search(["a.md"]), search(result)) is UNKNOWN


def test_the_message_says_whether_it_is_missing_or_cannot_be_read():
    block = {"min_results": 1, "tool": "search_docs"}
    assert "not recorded" in first("retrieval", block, run(search(None))).message
    assert "cannot be read" in first("retrieval", block, run(search(7))).message


def test_readable_results_alone_may_be_enough():
    assert found(1, search(["a.md"]), search(None)) is PASS


def test_results_that_were_not_recorded_are_unknown():
    assert found(1, search(["a.md"]), without=["tool_results"]) is UNKNOWN


@pytest.mark.parametrize("minimum", [-1, 1.5, "2"])
def test_a_minimum_that_is_not_a_count_is_a_spec_error(minimum):
    assert "min_results" in refusal("retrieval", {"min_results": minimum, "tool": "search_docs"})


def test_two_text_parts_of_one_answer_are_not_two_results():
    parts = [
        {"type": "text", "text": "Refunds for shoes take at most"},
        {"type": "text", "text": "30 days."},
    ]
    assert found(1, search(parts)) is PASS
    assert found(2, search(parts)) is UNKNOWN
    assert found(2, search({"content": parts})) is UNKNOWN


def test_text_parts_that_are_json_are_counted():
    assert found(2, search([{"type": "text", "text": '["a.md", "b.md"]'}])) is PASS
    assert found(3, search([{"type": "text", "text": '["a.md", "b.md"]'}])) is FAIL


def test_an_empty_search_may_be_allowed_but_not_a_short_one():
    block = {"min_results": 2, "allow_empty_if_said": ["nothing"], "tool": "search_docs"}
    assert first("retrieval", block, run(search([]), answer="I found nothing.")).status is PASS
    assert first("retrieval", block, run(search(["a"]), answer="Nothing.")).status is FAIL
