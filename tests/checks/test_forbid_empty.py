from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, judge, run
from trialrun import Step

TOOL = {"tool": "search_docs"}


def search(result):
    return Step.tool_call("search_docs", {}, result)


def found(*steps, **fields):
    return first("retrieval", {"forbid_empty": True, **TOOL}, run(*steps, **fields)).status


@pytest.mark.parametrize(
    "result", [["a.md"], [{"source": "a.md"}], {"results": ["a.md"]}, '["a.md"]', "some text"]
)
def test_something_was_found(result):
    assert found(search(result)) is PASS


@pytest.mark.parametrize("result", [[], {"results": []}, {}, "[]", '{"documents": []}', "", " \n"])
def test_nothing_was_found(result):
    assert found(search(result)) is FAIL


def test_fails_if_no_search_was_made():
    assert found() is FAIL
    assert found(Step.tool_call("another", {}, ["a.md"])) is FAIL


@pytest.mark.parametrize("result", [None, 7, [1, 2], {"error": "timed out"}])
def test_a_missing_or_unreadable_result_is_unknown(result):
    assert found(search(result)) is UNKNOWN


def test_results_that_were_not_recorded_are_unknown():
    assert found(search(["a.md"]), without=["tool_results"]) is UNKNOWN


def test_one_search_that_found_something_is_enough():
    assert found(search([]), search(["a.md"])) is PASS
    assert found(search(None), search(["a.md"])) is PASS


def test_an_unreadable_search_makes_an_empty_one_unknown():
    assert found(search([]), search(None)) is UNKNOWN


def test_without_a_tool_retrieval_steps_count():
    block = {"forbid_empty": True}
    assert first("retrieval", block, run(Step.retrieval("q", ["a.md"]))).status is PASS
    assert first("retrieval", block, run(Step.retrieval("q", []))).status is FAIL
    assert first("retrieval", block, run(search(["a.md"]))).status is FAIL


def test_with_a_tool_only_its_retrieval_steps_count():
    assert found(Step.retrieval("q", ["a.md"])) is FAIL
    assert found(Step.retrieval("q", ["a.md"], tool_name="search_docs")) is PASS


def test_false_switches_it_off():
    block = {"forbid_empty": False, "min_results": 1, **TOOL}
    assert list(judge("retrieval", block, run(search(["a.md"])))) == ["min_results"]
