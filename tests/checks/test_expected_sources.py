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
def test_a_source_is_its_whole_name_or_the_end_of_its_path(result):
    assert found(["install.md"], search(result)).status is PASS


@pytest.mark.parametrize(
    "result",
    ["reinstall.md", "install.md.bak", "install.mdx", "Install.md", "install.md/other", "install"],
)
def test_a_part_of_a_name_is_not_the_source(result):
    assert found(["install.md"], search(result)).status is FAIL
    assert found(["install.md"], search({"source": result})).status is FAIL


def test_a_path_must_be_there_as_far_as_it_is_given():
    assert found(["docs/install.md"], search("srv/docs/install.md")).status is PASS
    assert found(["docs/install.md"], search("other/install.md")).status is FAIL
    assert found(["docs/install.md"], search("olddocs/install.md")).status is FAIL
    assert found(["docs/install.md"], search("install.md")).status is FAIL


def test_two_spellings_of_the_same_characters_are_the_same_name():
    assert found(["r\u00e9sum\u00e9.md"], search("docs/re\u0301sume\u0301.md")).status is PASS
    assert found(["re\u0301sume\u0301.md"], search("docs/r\u00e9sum\u00e9.md")).status is PASS
    assert found(["\u624b\u518c.md"], search("\u6587\u6863/\u624b\u518c.md")).status is PASS


def test_a_letter_without_its_accent_is_another_name():
    assert found(["re.md"], search("r\u00e9.md")).status is FAIL


def test_every_source_must_be_found_in_whatever_search():
    assert found(["a.md", "b.md"], search("a.md"), search("b.md")).status is PASS
    result = found(["a.md", "b.md"], search("a.md"))
    assert result.status is FAIL
    assert "b.md" in result.message and "a.md" not in result.message


def test_a_source_that_stands_only_in_the_text_of_a_result_is_not_its_source():
    assert found(["a.md"], search({"source": "b.md", "text": "see a.md"})).status is FAIL


def test_a_search_that_was_never_made_found_no_source():
    assert found(["a.md"]).status is FAIL


def test_a_result_that_is_missing_or_cannot_be_read_is_unknown():
    unreadable = Step.tool_call("search_docs", {}, 7)
    assert found(["a.md"], Step.tool_call("search_docs")).status is UNKNOWN
    assert found(["a.md"], search("b.md"), unreadable).status is UNKNOWN
    assert found(["a.md"], search("a.md"), unreadable).status is PASS


def test_results_that_were_not_recorded_are_unknown():
    assert found(["a.md"], search("a.md"), without=["tool_results"]).status is UNKNOWN


@pytest.mark.parametrize("sources", [[], [""], "a.md"])
def test_a_list_that_names_no_source_is_a_spec_error(sources):
    block = {"expected_sources": sources, "tool": "search_docs"}
    assert "expected_sources" in refusal("retrieval", block)
