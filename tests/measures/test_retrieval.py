from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.retrieval import SearchResult, has_source, read_results

parts = st.lists(
    st.sampled_from(["docs", "install.md", "reinstall.md", "r\u00e9.md", "re\u0301.md", "a b"]),
    min_size=1,
    max_size=4,
)
items = st.one_of(
    st.sampled_from(["a.md", "docs/b.md", "some text"]),
    st.fixed_dictionaries(
        {"source": st.sampled_from(["a.md", "b.md"]), "text": st.text(max_size=9)}
    ),
)


def same_name(left, right):
    return unicodedata.normalize("NFC", left) == unicodedata.normalize("NFC", right)


@property_test
@given(parts, parts)
def test_a_source_matches_by_the_last_parts_of_its_path(source, wanted):
    tail = source[-len(wanted) :]
    fits = len(tail) == len(wanted) and all(map(same_name, tail, wanted))
    found = SearchResult(("/".join(source),), "")
    assert has_source(found, "/".join(wanted)) is fits
    assert has_source(SearchResult(("\\".join(source),), ""), "/".join(wanted)) is fits


@property_test
@given(st.lists(items, max_size=4), st.sampled_from(["results", "documents", "hits", "chunks"]))
def test_each_item_of_a_list_is_a_result_under_any_known_key(results, key):
    read = read_results(results)
    assert len(read.results) == len(results)
    assert read.countable
    assert read_results({key: results, "took": 3}) == read


@property_test
@given(st.lists(items, max_size=4))
def test_a_list_written_as_json_is_read_the_same(results):
    assert read_results(json.dumps(results)) == read_results(results)
    assert read_results(json.dumps({"results": results}, indent=2)) == read_results(results)


@pytest.mark.parametrize("result", [None, 7, True, [1, 2], ["a", None], {"error": "timed out"}])
def test_unreadable_results_are_none(result):
    assert read_results(result) is None


@pytest.mark.parametrize("result", [[], (), {}, "", "  \n", "[]", {"results": []}])
def test_empty_results(result):
    read = read_results(result)
    assert read.results == ()
    assert read.countable


def test_plain_text_is_one_result_that_cannot_be_counted():
    read = read_results("Refunds take 30 days.")
    assert [result.text for result in read.results] == ["Refunds take 30 days."]
    assert not read.countable


@pytest.mark.parametrize("key", ["content", "text", "output"])
def test_text_under_a_key_is_plain_text(key):
    assert read_results({key: "Refunds take 30 days."}) == read_results("Refunds take 30 days.")
    assert read_results({key: ""}).results == ()


def test_a_list_under_a_key_is_a_list():
    assert read_results({"content": ["a.md", "b.md"]}) == read_results(["a.md", "b.md"])


@pytest.mark.parametrize("item", [{"source": "a.md", "text": "30 days"}, {"path": "a.md"}])
def test_a_single_result_needs_no_list(item):
    assert read_results(item) == read_results([item])


def test_a_result_has_all_its_names_and_texts():
    item = {
        "metadata": {"source": "docs/a.md", "page": 7},
        "title": "Refunds",
        "text": "30 days",
        "notes": ["by card", {"deep": "inside"}],
    }
    (result,) = read_results([item]).results
    assert set(result.sources) == {"docs/a.md", "Refunds"}
    for piece in ("docs/a.md", "7", "Refunds", "30 days", "by card", "inside"):
        assert piece in result.text


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("see install.md", True),
        ("install.md says so", True),
        ("see install.md.", True),
        ("see docs/install.md, please", True),
        ("(install.md)", True),
        ("reinstall.md", False),
        ("re-install.md", False),
        ("install.mdx", False),
        ("install.md.bak", False),
        ("reinstall.md and install.md", True),
        ("Install.md", False),
    ],
)
def test_in_plain_text_a_name_must_not_be_part_of_a_longer_one(text, fits):
    (result,) = read_results(text).results
    assert has_source(result, "install.md") is fits
