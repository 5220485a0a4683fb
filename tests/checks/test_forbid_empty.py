from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, judge, refusal, run
from trialrun import Step

TOOL = {"tool": "search_docs"}


def search(result, **fields):
    return Step.tool_call("search_docs", {}, result, **fields)


def found(*steps, **fields):
    return first("retrieval", {"forbid_empty": True, **TOOL}, run(*steps, **fields)).status


@pytest.mark.parametrize(
    "result",
    [
        ["a.md"],
        [{"source": "a.md"}],
        {"results": ["a.md"]},
        '["a.md"]',
        "Refunds take thirty days after the delivery.",
        "送料は全国一律五百円です。返品は到着後三十日以内にお申し込みください。それ以降は返品をお受けできませんのでご了承ください。",
    ],
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


PARTS = [{"type": "text", "text": "[]"}]


@pytest.mark.parametrize(
    "result",
    [
        "No results found.",
        "None",
        "0 results",
        "no matches",
        PARTS,
        {"content": PARTS},
        {"name": "search", "total": 0},
        [{}, {}],
        ["", ""],
        "```json\n[]\n```",
        "<results/>",
        {"data": {"items": []}},
    ],
    ids=repr,
)
def test_a_search_that_says_so_found_nothing(result):
    assert found(search(result)) is FAIL
    block = {"min_results": 1, **TOOL}
    assert first("retrieval", block, run(search(result))).status is FAIL


@pytest.mark.parametrize(
    "result",
    [
        "Error: connection refused",
        {"content": [{"type": "text", "text": "Error: index missing"}], "isError": True},
        {"id": "req-1", "status": "error"},
        {"url": "https://host/a", "error": "404"},
    ],
    ids=repr,
)
def test_an_error_is_not_a_result(result):
    check = first("retrieval", {"forbid_empty": True, **TOOL}, run(search(result)))
    assert check.status is UNKNOWN
    assert "error" in check.message
    said = {"forbid_empty": True, "allow_empty_if_said": ["sorry"], **TOOL}
    assert first("retrieval", said, run(search(result), answer="Sorry!")).status is UNKNOWN


def test_a_failed_call_is_unknown():
    failed = Step.tool_call("search_docs", {}, ["a.md"], status="failure")
    assert found(failed) is UNKNOWN


@pytest.mark.parametrize(
    "result",
    [
        "Keine Ergebnisse gefunden.",
        "Aucun résultat",
        "未找到结果",
        "id | name\n---+----\n(0 rows)",
        "Empty DataFrame\nColumns: []\nIndex: []",
        "QueryResult(matches=[])",
        "Loading...",
        "timeout",
        {"content": [{"type": "text", "text": "Brak wyników"}]},
    ],
)
def test_a_few_words_may_be_any_message_and_are_not_decided(result):
    assert found(search(result)) is UNKNOWN
    block = {"forbid_empty": True, "empty_markers": {"replace": ["nope"]}, **TOOL}
    assert first("retrieval", block, run(search(result))).status is PASS  # the user knows the tool


@pytest.mark.parametrize("fields", [{"error": "boom"}, {"status": "pending"}])
def test_the_result_of_a_call_that_failed_or_did_not_end_is_not_decided(fields):
    assert found(search(["a.md"], **fields)) is UNKNOWN


def test_markers_are_added_or_replaced():
    def judged(result, markers):
        block = {"forbid_empty": True, "empty_markers": markers, **TOOL}
        return first("retrieval", block, run(search(result))).status

    assert judged("Keine Treffer.", ["keine treffer"]) is FAIL
    assert judged("None", ["keine treffer"]) is FAIL
    assert judged("Keine Treffer in Halle 3.", ["keine treffer"]) is UNKNOWN
    assert judged("Keine Treffer in Halle 3, aber zwei in Halle 4.", ["keine treffer"]) is PASS
    assert judged("None", {"replace": ["keine treffer"]}) is PASS
    assert judged("keine treffer", {"replace": ["keine treffer"]}) is FAIL
    assert judged([], {"replace": []}) is FAIL


@pytest.mark.parametrize("markers", ["none", [""], {"add": ["x"]}, {"replace": "x"}, 3])
def test_invalid_markers_are_a_spec_error(markers):
    block = {"forbid_empty": True, "empty_markers": markers, **TOOL}
    assert "empty_markers" in refusal("retrieval", block)


def test_an_answer_may_say_that_nothing_was_found():
    block = {"forbid_empty": True, "allow_empty_if_said": ["could not find"], **TOOL}

    def judged(result, answer, **fields):
        return first("retrieval", block, run(search(result), answer=answer, **fields)).status

    assert judged([], "I Could Not Find anything about that.") is PASS
    assert judged("No results found.", "I could not find it.") is PASS
    assert judged([], "You have 30 days.") is FAIL
    assert judged(["a.md"], "You have 30 days.") is PASS
    assert judged([], "the key [redacted] is wrong") is UNKNOWN
    assert first("retrieval", block, run(answer="I could not find it.")).status is FAIL


def test_the_phrases_have_no_effect_alone():
    block = {"allow_empty_if_said": ["x"], "expected_sources": ["a.md"], **TOOL}
    assert "forbid_empty" in refusal("retrieval", block)


def test_a_structured_answer_may_say_so():
    block = {"forbid_empty": True, "allow_empty_if_said": ["no_match"], **TOOL}
    answer = {"status": "NO_MATCH"}
    assert first("retrieval", block, run(search([]), answer=answer)).status is PASS
