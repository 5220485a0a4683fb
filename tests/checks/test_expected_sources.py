from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import Step


def search(*results):
    return Step.tool_call("search_docs", {}, list(results))


def found(sources, *steps, **fields):
    block = {"expected_sources": sources, "tool": "search_docs"}
    return first("retrieval", block, run(*steps, **fields))


@pytest.mark.parametrize(
    "result",
    [
        "install.md",
        "docs/install.md",
        {"source": "install.md"},
        {"source": "/srv/docs/install.md"},
        {"path": "docs\\install.md"},
        {"metadata": {"source": "docs/install.md"}, "text": "pip install"},
    ],
)
def test_a_source_matches_by_whole_name_or_end_of_path(result):
    assert found(["install.md"], search(result)).status is PASS


@pytest.mark.parametrize(
    "result",
    ["reinstall.md", "install.md.bak", "install.mdx", "Install.md", "install.md/other", "install"],
)
def test_a_part_of_a_name_is_not_the_source(result):
    assert found(["install.md"], search(result)).status is FAIL
    assert found(["install.md"], search({"source": result})).status is FAIL


def test_every_given_part_of_a_path_must_match():
    assert found(["docs/install.md"], search("srv/docs/install.md")).status is PASS
    assert found(["docs/install.md"], search("other/install.md")).status is FAIL
    assert found(["docs/install.md"], search("olddocs/install.md")).status is FAIL
    assert found(["docs/install.md"], search("install.md")).status is FAIL


def test_unicode_forms_of_the_same_characters_are_equal():
    assert found(["r\u00e9sum\u00e9.md"], search("docs/re\u0301sume\u0301.md")).status is PASS
    assert found(["re\u0301sume\u0301.md"], search("docs/r\u00e9sum\u00e9.md")).status is PASS
    assert found(["\u624b\u518c.md"], search("\u6587\u6863/\u624b\u518c.md")).status is PASS


def test_a_letter_without_its_accent_is_another_name():
    assert found(["re.md"], search("r\u00e9.md")).status is FAIL


def test_every_source_must_be_found_by_some_search():
    assert found(["a.md", "b.md"], search("a.md"), search("b.md")).status is PASS
    result = found(["a.md", "b.md"], search("a.md"))
    assert result.status is FAIL
    assert "b.md" in result.message and "a.md" not in result.message


def test_a_source_named_only_in_the_text_of_a_result_does_not_count():
    assert found(["a.md"], search({"source": "b.md", "text": "see a.md"})).status is FAIL


def test_fails_if_no_search_was_made():
    assert found(["a.md"]).status is FAIL


def test_a_missing_or_unreadable_result_is_unknown():
    unreadable = Step.tool_call("search_docs", {}, 7)
    assert found(["a.md"], Step.tool_call("search_docs")).status is UNKNOWN
    assert found(["a.md"], search("b.md"), unreadable).status is UNKNOWN
    assert found(["a.md"], search("a.md"), unreadable).status is PASS


def test_results_that_were_not_recorded_are_unknown():
    assert found(["a.md"], search("a.md"), without=["tool_results"]).status is UNKNOWN


@pytest.mark.parametrize("sources", [[], [""], "a.md"])
def test_an_invalid_list_of_sources_is_a_spec_error(sources):
    block = {"expected_sources": sources, "tool": "search_docs"}
    assert "expected_sources" in refusal("retrieval", block)


@pytest.mark.parametrize(
    "result",
    [
        "install.md was not found",
        {"path": "install.md", "error": "no such file"},
        [{"path": "install.md", "error": "no such file"}],
        "install.md: No such file or directory",
        "cat: install.md: No such file or directory",
    ],
    ids=repr,
)
def test_a_source_that_was_not_found_is_not_a_result(result):
    check = found(["install.md"], Step.tool_call("search_docs", {}, result))
    assert check.status in (FAIL, UNKNOWN)


def test_a_source_named_in_running_text_is_unknown():
    text = Step.tool_call("search_docs", {}, "As install.md says, run pip.")
    check = found(["install.md"], text)
    assert check.status is UNKNOWN
    assert "install.md" in check.message
    assert found(["install.md", "usage.md"], text).status is FAIL
    listed = Step.tool_call("search_docs", {}, "Source: docs/install.md\nRun pip.")
    assert found(["install.md"], text, listed).status is PASS
