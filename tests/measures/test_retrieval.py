from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.retrieval import SearchResult, SearchResults, has_source, read_results
from trialrun.measures.search_texts import Wordings

paths = st.lists(
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
@given(paths, paths)
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
def test_unreadable_results_have_a_problem_and_no_results(result):
    read = read_results(result)
    assert read.problem
    assert read.results == ()


@pytest.mark.parametrize("result", [[], (), {}, "", "  \n", "[]", {"results": []}])
def test_empty_results(result):
    read = read_results(result)
    assert read.results == ()
    assert read.countable


def parts(*texts):
    return [{"type": "text", "text": text} for text in texts]


NOTHING = [
    "No results found.",
    "no matches",
    "None",
    "null",
    "0 results",
    "Found 0 total occurrences",
    "No matching documents were found!",
    "(no output)",
    "not_found",
    "-",
    "N/A",
    '""',
    '"No results found."',
    "```json\n[]\n```",
    "```\n[]\n```",
    "```\nNo results found.\n```",
    "<results/>",
    "<results>\n</results>",
    '<?xml version="1.0"?>\n<results count="0"/>',
    "{'results': []}",
    "()",
    '{"results": []}\n{"results": []}',
    [{}, {}],
    ["", ""],
    [None, None],
    [[]],
    [[], []],
    [{"text": ""}],
    [{"text": "No results found.", "score": 0.0}],
    ["No results found."],
    [{"count": 0}],
    parts("[]"),
    parts(""),
    parts("null"),
    parts("[]", "[]"),
    parts("No results found."),
    parts('{"results": [], "total": 0}'),
    {"content": parts("[]")},
    {"content": parts("[]"), "isError": False},
    {"content": [], "structuredContent": {"result": []}},
    {"content": "[]", "type": "tool", "name": "search", "tool_call_id": "c1"},
    {"output": {"content": parts("[]")}},
    {"data": {"items": []}},
    {"data": {"search": {"nodes": []}}},
    {"data": {"Get": {"Article": []}}},
    {"query": {"search": []}},
    {"web": {"results": []}},
    {"webPages": {"value": []}},
    {"searchParameters": {"q": "x"}, "organic": []},
    {"hits": {"total": {"value": 0}, "hits": []}},
    {"hits": [], "nbHits": 0},
    {"ids": [[]], "documents": [[]]},
    {"results": None},
    {"results": {}},
    {"results": "[]"},
    {"results": "none"},
    {"results": [], "suggestions": ["refunds"]},
    {"result": "No results found."},
    {"total": 0},
    {"name": "search", "total": 0},
    {"url": "https://host/search?q=x", "total_results": 0},
    {"file": "a.md", "matches": 0},
    {"path": "a.md", "exists": False},
    {"file": "index.db", "output": "No results found."},
    {"message": "No results found", "query": "x"},
    {"status": "no_results"},
]


@pytest.mark.parametrize("result", NOTHING, ids=repr)
def test_nothing_found_is_nothing_found_in_any_envelope(result):
    read = read_results(result)
    assert read == SearchResults()
    assert read_results(json.dumps(result)) == read
    assert read_results({"data": {"payload": [], "results": result}}) == read
    assert read_results({"content": parts(json.dumps(result))}) == read


PROBLEMS = [
    "Error: connection refused",
    "ConnectionError: refused",
    "httpx.ConnectError: all attempts failed",
    "Error executing tool search: index missing",
    "Traceback (most recent call last):\n  …",
    "<tool_use_error>Sibling tool call errored</tool_use_error>",
    "404 Not Found",
    "No results found for 'refund policy'.",
    "No good Wikipedia Search Result was found",
    "I could not find anything about that.",
    "The request timed out, try again.",
    "Error: " + "x" * 5000,
    ["Error: connection refused"],
    parts("Error: index missing"),
    {"content": parts("Error: index missing"), "isError": True},
    {"content": parts("30 days"), "isError": True},
    {"id": "req-1", "status": "error"},
    {"id": "req-1"},
    {"name": "search", "took": 3},
    {"url": "https://host/a", "error": "404"},
    {"path": "install.md", "error": "no such file"},
    {"path": "install.md", "error": {"code": 2}},
    [{"path": "install.md", "error": "no such file"}],
    {"error": "quota of 30 days exceeded"},
    {"errors": [{"message": "bad query"}], "data": None},
    {"success": False, "results": ["a.md"]},
    {"ok": False},
    {"Err": "no such index"},
    {"status": 503, "body": "try again"},
    {"statusCode": 404},
    {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
    {"total": 0, "results": ["a.md"]},
    [{"type": "image", "data": "…"}],
]


@pytest.mark.parametrize("result", PROBLEMS, ids=lambda result: repr(result)[:60])
def test_errors_and_messages_are_neither_results_nor_nothing(result):
    read = read_results(result)
    assert read.problem
    assert read.results == ()
    assert read_results(json.dumps(result)).problem == read.problem


DOCUMENTS = [
    ("Refunds take 30 days.", 1),
    ("# null\n\n# Documentation", 1),
    ("The page speaks of errors and of what to do when nothing is found. " * 9, 1),
    (["a.md", ""], 1),
    ([{"source": "a.md"}, {}], 1),
    ([{"id": "INV-1", "status": "failed"}, {"id": "INV-2", "status": "error"}], 2),
    ([{"type": "web_search_result", "title": "News", "url": "https://host"}], 1),
    ([{"type": "tool_reference", "tool_name": "WebFetch"}], 1),
    ([["a.md", "b.md"]], 1),
    ([[{"flight": "A1"}, {"flight": "B2"}], [{"flight": "C3"}, {"flight": "D4"}]], 2),
    ([[{"source": "a.md"}, 0.9], [{"source": "b.md"}, 0.8]], 2),
    ({"Ok": {"content": parts("Action completed.")}}, 1),
    (parts("Refunds take", "30 days."), 1),
    (parts('["a.md", "b.md"]'), 2),
    (parts('{"source": "a.md"}', '{"source": "b.md"}'), 2),
    ([{"type": "resource", "resource": {"uri": "file:///a.md", "text": "30 days"}}], 1),
    ([{"type": "resource_link", "uri": "file:///a.md", "name": "a"}], 1),
    ({"content": '[{"url": "https://host", "title": "A"}]', "type": "tool", "name": "search"}, 1),
    ({"result": "Page 1 (Total results: 50): dresses"}, 1),
    ({"documents": [["30 days", "60 days"]], "ids": [["1", "2"]]}, 1),
    ({"hits": {"total": {"value": 1}, "hits": [{"_id": "1", "source": "a.md"}]}}, 1),
    ({"error": None, "results": ["a.md"]}, 1),
    ({"path": "package.json", "content": '{"name": "x"}'}, 1),
    ({"title": "Install", "text": "Run pip."}, 1),
    ("[{'title': 'Install', 'url': 'https://host'}]", 1),
    ('{"source": "a.md"}\n{"source": "b.md"}', 2),
    ("[1] The first of two [2]", 1),
]


@pytest.mark.parametrize(("result", "number"), DOCUMENTS)
def test_documents_are_results(result, number):
    read = read_results(result)
    assert not read.problem
    assert len(read.results) == number


def test_markers_are_whole_texts():
    mine = Wordings.of(["Nada", "keine Treffer"])
    assert read_results("nada.", mine) == read_results("Keine  Treffer!", mine) == SearchResults()
    assert read_results("none", mine) == SearchResults()
    assert len(read_results("Nada was a word of the poet.", mine).results) == 1
    only = Wordings.of(["nada"], replaced=True)
    assert read_results("nada", only) == SearchResults()
    assert len(read_results("None", only).results) == 1
    assert len(read_results("No results found for x", only).results) == 1
    assert read_results("Error: refused", only).problem
    assert read_results("", Wordings.of([], replaced=True)) == SearchResults()


def test_deep_nesting_is_a_problem_and_no_crash():
    value = []
    for _ in range(5000):
        value = {"data": value}
    assert "deeply" in read_results(value).problem
    assert read_results("[" * 100_000).results


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
        ("install.md", True),
        ("- docs/install.md", True),
        ("(install.md)", True),
        ("[1] install.md (score: 0.92)", True),
        ("Source: docs/install.md\nRun pip.", True),
        ("Source: https://host/docs/install.md", True),
        ('<document path="docs/install.md">Run pip.</document>', None),
        ('<document path="docs/install.md">\nRun pip.\n</document>', True),
        ("<source>install.md</source>", True),
        ("docs/install.md:12: pip install", True),
        ("**File:** install.md", True),
        ("Results:\n1. install.md\n2. usage.md", True),
        ("see install.md", None),
        ("install.md says so", None),
        ("see install.md.", None),
        ("see docs/install.md, please", None),
        ("install.md was not found", None),
        ("install.md: No such file or directory", None),
        ("install.md nicht gefunden", None),
        ("Source: install.md (not found)", None),
        ("Not found:\n- install.md", None),
        ("Missing file: install.md", None),
        ("reinstall.md", False),
        ("re-install.md", False),
        ("install.mdx", False),
        ("install.md.bak", False),
        ("reinstall.md and install.md", None),
        ("Install.md", False),
    ],
)
def test_running_text_must_give_the_whole_name_as_a_source(text, fits):
    assert has_source(SearchResult((), text), "install.md") is fits
