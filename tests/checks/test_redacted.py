"""Checks of a run from which secrets were removed before it was stored.

The property: the result for the redacted run is that for the original run, or unknown.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import FAIL, PASS, UNKNOWN, first, property_test, run, said
from trialrun import Step, Trace
from trialrun.checks._masks import could_equal, could_read, found_outside_masks, occurs
from trialrun.measures.patterns import compiled
from trialrun.redaction import MASK, Redactor


def call(name="search", arguments=None, result=None):
    return Step.tool_call(name, arguments or {}, result)


def status(layer, block, trace, baseline=None, **case):
    result = first(layer, block, trace, baseline, **case)
    if result.status is UNKNOWN:
        assert "redacted" in result.message
    return result.status


@pytest.mark.parametrize(
    ("block", "answer", "wanted"),
    [
        ({"expected_in_answer": ["refund"]}, f"refund {MASK}", PASS),
        ({"expected_in_answer": ["refund", "sk-1"]}, f"refund {MASK}", UNKNOWN),
        ({"expected_in_answer": ["act"]}, f"the key {MASK}", UNKNOWN),  # not in `[redacted]`
        ({"expected_in_answer": [f"key {MASK}"]}, f"the key {MASK}", PASS),
        ({"expected_in_answer": [["sk-1", "refund"]]}, f"refund {MASK}", PASS),
        ({"any_expected_in_answer": ["sk-1", "refund"]}, f"refund {MASK}", PASS),
        ({"any_expected_in_answer": ["sk-1", "red"]}, f"a {MASK}", UNKNOWN),
        ({"not_in_answer": ["refund"]}, f"refund {MASK}", FAIL),
        ({"not_in_answer": ["act"]}, f"a {MASK}", UNKNOWN),
        ({"not_in_answer": [MASK]}, f"a {MASK}", FAIL),
        ({"exact_match": "the key sk-1 is it"}, f"the key {MASK} is it", UNKNOWN),
        ({"exact_match": "sk-1"}, f" {MASK}\n", UNKNOWN),
        ({"exact_match": "the key sk-1 was it"}, f"the key {MASK} is it", FAIL),
        ({"exact_match": f"a {MASK}"}, f"a {MASK}", PASS),
        ({"regex_match": r"\d+ days"}, f"{MASK}: 30 days", PASS),
        ({"regex_match": r"[^,]+ days"}, f"{MASK}: 30 days", PASS),
        ({"regex_match": r"\d+ weeks"}, f"{MASK}: 30 days", UNKNOWN),
        ({"regex_match": r"days$"}, f"{MASK}: 30 days", UNKNOWN),
        ({"regex_match": r"^(?!.*sk-1)"}, f"the key {MASK}", UNKNOWN),
        ({"regex_match": r"redacted"}, f"the key {MASK}", UNKNOWN),
        ({"regex_match": [r"\d+ days", "weeks"]}, f"{MASK}: 30 days", UNKNOWN),
        ({"json_schema": {"type": "object"}}, f'{{"a": "{MASK}"}}', UNKNOWN),
        ({"json_schema": {"type": "array"}}, f'{{"a": "{MASK}"}}', UNKNOWN),
        ({"json_schema": {"type": "object"}}, MASK, UNKNOWN),
        ({"task_completed": True}, MASK, PASS),
        ({"task_completed": False}, MASK, FAIL),
    ],
)
def test_masked_answers(block, answer, wanted):
    assert status("correctness", block, said(answer)) is wanted


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ({"key": "sk-1"}, UNKNOWN),
        ({"key": 5}, FAIL),
        ({"key": MASK}, PASS),
        ({"key": {"any": True}}, PASS),
        ({"key": {"absent": True}}, FAIL),
        ({"key": {"regex": "^sk-"}}, UNKNOWN),
        ({"key": {"one_of": ["sk-1", 2]}}, UNKNOWN),
        ({"key": {"one_of": [1, 2]}}, FAIL),
        ({"key": {"approx": 1}}, FAIL),
        ({"url": "https://me:pass@host/a"}, UNKNOWN),
        ({"url": "https://me:pass@host/b"}, FAIL),
        ({"url": {"regex": "host/a"}}, PASS),
        ({"url": {"regex": "host/b"}}, UNKNOWN),
        ({"url": {"one_of": ["x", "https://me:pass@host/a"]}}, UNKNOWN),
        ({"list": [1, "sk-1"]}, UNKNOWN),
        ({"list": [2, "sk-1"]}, FAIL),
        ({"list": [1]}, FAIL),
        ({"nested": {"in": {"any": True}}}, PASS),
        ({"nested": {"in": "sk-1"}}, UNKNOWN),
        ({"nested": {"other": 1}}, FAIL),
        ({"seats": 2}, PASS),
        ({"seats": 3, "key": "sk-1"}, FAIL),
    ],
)
def test_masked_arguments(args, wanted):
    made = {
        "key": MASK,
        "url": f"https://me:{MASK}@host/a",
        "list": [1, MASK],
        "nested": {"in": MASK},
        "seats": 2,
    }
    block = {"tool_args": [{"tool": "book", "args": args}]}
    assert status("path", block, run(call("book", made))) is wanted


@pytest.mark.parametrize(
    ("args", "exact", "wanted"),
    [
        ({"sk-1": 1}, False, UNKNOWN),
        ({"a": 2}, False, PASS),
        ({"a": 2}, True, UNKNOWN),
        ({"a": 2, "sk-1": 1}, True, UNKNOWN),
        ({"b": 2}, True, FAIL),
        ({"sk-1": {"absent": True}}, False, UNKNOWN),
    ],
)
def test_masked_argument_names(args, exact, wanted):
    block = {"tool_args": [{"tool": "book", "args": args, "exact": exact}]}
    assert status("path", block, run(call("book", {MASK: 1, "a": 2}))) is wanted


def test_a_wanted_call_may_have_a_masked_name():
    block = {"tool_args": [{"tool": "book", "args": {"a": 1}}]}
    assert status("path", block, run(call(MASK, {"a": 1}))) is UNKNOWN
    assert status("path", block, run(call(MASK, {"a": 2}))) is FAIL
    assert status("path", block, run(call(MASK, {"a": 1}), call("book", {"a": 1}))) is PASS


def test_masked_calls_that_look_equal_may_differ():
    masked = call("login", {"key": MASK})
    assert status("path", {"max_repeats": 1}, run(masked, masked)) is UNKNOWN
    assert status("path", {"max_repeats": 2}, run(masked, masked)) is PASS
    assert status("path", {"max_repeats": 1}, run(masked, masked, "a", "a")) is FAIL
    assert status("path", {"max_loops": 0}, run(MASK, MASK)) is UNKNOWN
    assert status("path", {"max_loops": 0}, run(MASK, MASK, "a", "a")) is FAIL
    assert status("path", {"max_loops": 1}, run(MASK, MASK)) is PASS


@pytest.mark.parametrize(
    ("block", "tools", "wanted"),
    [
        ({"expected_tools": ["a"]}, ["a", MASK], PASS),
        ({"expected_tools": ["a", "b"]}, ["a", MASK], UNKNOWN),
        ({"expected_tools": []}, [MASK], FAIL),
        ({"forbidden_tools": ["a"]}, ["a", MASK], FAIL),
        ({"forbidden_tools": ["b"]}, ["a", MASK], UNKNOWN),
        ({"forbidden_tools": ["mcp__*"]}, [f"mcp__{MASK}"], FAIL),
        ({"forbidden_tools": ["*act*"]}, [MASK], UNKNOWN),
        ({"min_tool_precision": 0.5, "expected_tools": ["a"]}, ["a", MASK], UNKNOWN),
        ({"min_tool_f1": 0.5, "expected_tools": ["a"]}, ["a", MASK], UNKNOWN),
        ({"expected_tool_sequence": ["a", "b"]}, ["a", MASK], UNKNOWN),
        ({"expected_tool_sequence": ["b", "b"]}, ["a", MASK], FAIL),
        ({"expected_tool_sequence": ["a"]}, ["a", MASK], FAIL),
        ({"order": ["a"]}, ["a", MASK], PASS),
        ({"order": ["a", "b"]}, ["a", MASK], UNKNOWN),
    ],
)
def test_masked_tool_names(block, tools, wanted):
    assert status("path", block, run(*tools)) is wanted


@pytest.mark.parametrize(
    ("block", "tools", "reference", "wanted"),
    [
        ({"match_mode": "subset"}, ["a", MASK], ["a"], PASS),
        ({"match_mode": "subset"}, ["a", MASK], ["b"], UNKNOWN),
        ({"match_mode": "strict"}, ["a", MASK], ["a", "b"], UNKNOWN),
        ({"match_mode": "superset"}, ["a", MASK], ["a", "b"], UNKNOWN),
        ({"match_mode": "strict"}, [MASK], [MASK], UNKNOWN),
        ({"match_mode": "strict"}, ["a"], [MASK], UNKNOWN),
        ({"min_sequence_similarity": 0.5}, ["a", MASK], ["a", "b"], PASS),
        ({"min_sequence_similarity": 0.9}, ["a", MASK], ["a", "b"], UNKNOWN),
        ({"min_sequence_similarity": 0.9}, [MASK], [MASK], UNKNOWN),
    ],
)
def test_masked_baselines(block, tools, reference, wanted):
    assert status("path", block, run(*tools), run(*reference)) is wanted


def test_masked_handoffs():
    trace = run(Step.handoff("sales"), Step.handoff(MASK))
    assert status("path", {"expected_handoff": "sales"}, trace) is PASS
    assert status("path", {"expected_handoff": "billing"}, trace) is UNKNOWN


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"contains": "refund"}, PASS),
        ({"contains": "sk-1"}, UNKNOWN),
        ({"contains": "act"}, UNKNOWN),
        ({"not_contains": "refund"}, FAIL),
        ({"not_contains": "sk-1"}, UNKNOWN),
        ({"not_contains": "act"}, UNKNOWN),
        ({"regex": "ref[a-z]nd"}, PASS),
        ({"regex": "^ref"}, UNKNOWN),
        ({"regex": "sk-.*"}, UNKNOWN),
        ({"equals": "refund sk-1"}, UNKNOWN),
        ({"equals": "sk-1"}, FAIL),
        ({"equals": f"refund {MASK}"}, PASS),
        ({"contains": "refund", "equals": "sk-1"}, FAIL),
        ({"contains": "refund", "not_contains": "sk-1"}, UNKNOWN),
    ],
)
def test_masked_fields_of_steps(asked, wanted):
    block = {"span_assertions": [{"select": {"name": "search"}, "field": "tool_result", **asked}]}
    assert status("path", block, run(call(result=f"refund {MASK}"))) is wanted


def test_a_selected_step_may_have_a_masked_name():
    def found(*steps, name="search", term="refund"):
        select = {"select": {"name": name}, "field": "tool_result", "contains": term}
        return status("path", {"span_assertions": [select]}, run(*steps))

    holds, masked = call(result="refund"), call(MASK, result="other")
    assert found(masked) is UNKNOWN
    assert found(masked, holds) is UNKNOWN
    assert found(masked, holds, term="else") is FAIL
    assert found(masked, holds, name="*") is FAIL


@pytest.mark.parametrize(
    ("block", "result", "wanted"),
    [
        ({"forbid_empty": True}, [MASK], PASS),
        ({"forbid_empty": True}, MASK, UNKNOWN),
        ({"forbid_empty": True}, f"see the manual on page 12, {MASK}", PASS),
        ({"forbid_empty": True}, {"results": [], "next": f"?token={MASK}"}, FAIL),
        ({"forbid_empty": True}, {"results": [], MASK: 1}, UNKNOWN),
        ({"min_results": 2}, [MASK, MASK], PASS),
        ({"min_results": 3}, [MASK, MASK], FAIL),
        ({"min_results": 3}, f'["{MASK}", "a"]', UNKNOWN),
        ({"min_results": 3}, {"content": MASK}, UNKNOWN),
        ({"expected_sources": ["a.md"]}, [f"https://me:{MASK}@host/a.md"], PASS),
        ({"expected_sources": ["b.md"]}, [f"https://me:{MASK}@host/a.md"], UNKNOWN),
        ({"expected_sources": ["a.md"]}, f"a.md\n{MASK}", PASS),
        ({"expected_sources": ["a.md"]}, f"see a.md, {MASK}", UNKNOWN),
        ({"expected_sources": ["a.md"]}, f"see a.md{MASK}", UNKNOWN),
        ({"expected_sources": ["redacted"]}, f"see {MASK}", UNKNOWN),
    ],
)
def test_masked_results(block, result, wanted):
    trace = run(call(result=result))
    assert status("retrieval", {**block, "tool": "search"}, trace) is wanted


@pytest.mark.parametrize(
    ("answer", "result", "wanted"),
    [
        ("30 days", f"30 days {MASK}", PASS),
        ("30 days", f"30 weeks {MASK}", UNKNOWN),
        (f"30 days {MASK}", "30 weeks", FAIL),
        (f"{MASK} days", "30 days", PASS),
        (f"{MASK} days", "30 weeks", UNKNOWN),
        ("a while", f"30 weeks {MASK}", PASS),
    ],
)
def test_masked_facts(answer, result, wanted):
    trace = run(call(result=[result]), answer=answer)
    block = {"facts_in_context": ["30 days"], "tool": "search"}
    assert status("retrieval", block, trace) is wanted


@pytest.mark.parametrize(
    "block",
    [{"forbid_empty": True}, {"min_results": 1}, {"expected_sources": ["a"]}],
)
def test_a_search_may_have_a_masked_name(block):
    trace = run(call(MASK, result=["a"]))
    assert status("retrieval", {**block, "tool": "search"}, trace) is UNKNOWN


# The helpers


@pytest.mark.parametrize(
    ("text", "wanted", "could"),
    [
        ("a", "a", True),
        ("a", "b", False),
        (MASK, "", True),
        (f"a{MASK}", "abc", True),
        (f"a{MASK}", "bc", False),
        (f"{MASK}c", "abc", True),
        (f"{MASK}c", "ab", False),
        (f"ab{MASK}bc", "abc", False),  # the b cannot be both
        (f"a{MASK}b{MASK}c", "a-b-c", True),
        (f"a{MASK}b{MASK}c", "a-c", False),
        (f"a{MASK}b{MASK}b{MASK}c", "abc", False),
    ],
)
def test_could_read(text, wanted, could):
    assert could_read(text, wanted) is could


def test_could_equal():
    assert could_equal({"a": [1, MASK], MASK: 2}, {"a": [1, "x"], "b": 2})
    assert not could_equal({"a": [1, MASK], MASK: 2}, {"a": [2, "x"], "b": 2})
    assert not could_equal({"a": [1, MASK], MASK: 2}, {"a": [1, "x"]})
    assert not could_equal([MASK], "x")
    assert not could_equal(MASK, 1)
    assert could_equal([1.0], [1])


def test_a_term_is_not_found_across_a_mask_or_inside_it():
    assert not occurs("ab", f"a{MASK}b")
    assert not occurs("d]b", f"a{MASK}b")
    assert occurs("ab", f"ab{MASK}")
    assert occurs(f"a{MASK}", f"a{MASK}b")


@pytest.mark.parametrize(
    "pattern",
    ["^a", "a$", r"\ba", r"a\b", r"\Aa", r"a\Z", "(?=a)", "a(?!b)", "(?<=a)", "(?>a)", "a++"],
)
def test_a_pattern_that_depends_on_neighbouring_text_is_undecided(pattern):
    assert found_outside_masks(compiled(pattern), f"a {MASK} a") is None


# The property


SECRET = r"s\d"
WORDS = st.sampled_from(["s1", "s2", "alpha", "act", "red", "30 days", "docs/a.md", "s1.md", "]"])
TEXT = st.lists(WORDS, max_size=4).map(" ".join)
GLUED = st.lists(WORDS, min_size=1, max_size=3).map("".join)
TERM = GLUED
NAMES = st.sampled_from(["search", "login", "s1", "s2", "s1_x", "mcp_s2"])
SCALARS = TEXT | GLUED | st.integers(0, 2)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(WORDS, SCALARS, max_size=2)
RESULTS = (
    TEXT
    | st.lists(GLUED, max_size=3)
    | st.fixed_dictionaries({"results": st.lists(GLUED, max_size=2), "s1": TEXT})
    | st.lists(st.fixed_dictionaries({"source": GLUED, "text": TEXT}), max_size=2)
)
PATTERNS = st.sampled_from(
    ["s1", "^s1", r"s\d$", r"\bact\b", "alpha.*s", "(?!s1)a", "[^s]1", "red", "e.a"]
)

CALLS = st.fixed_dictionaries(
    {
        "type": st.just("tool_call"),
        "tool_name": NAMES,
        "tool_args": st.dictionaries(st.sampled_from(["a", "b", "s1"]), VALUES, max_size=2),
        "tool_result": RESULTS,
    }
)
HANDOFFS = st.fixed_dictionaries({"type": st.just("handoff"), "handoff_to": NAMES})
RUNS = st.fixed_dictionaries(
    {"input": st.just("question"), "output": TEXT, "steps": st.lists(CALLS | HANDOFFS, max_size=4)}
)
MATCHERS = VALUES | st.sampled_from(
    [{"any": True}, {"absent": True}, {"regex": "s1"}, {"regex": "^a"}, {"one_of": ["s1", "alpha"]}]
)
ASSERTIONS = st.tuples(
    st.sampled_from(["search", "s*", "*", "login"]),
    st.sampled_from(["tool_result", "tool_args", "tool_name"]),
    st.one_of(
        st.fixed_dictionaries({"contains": TERM}),
        st.fixed_dictionaries({"not_contains": TERM}),
        st.fixed_dictionaries({"regex": PATTERNS}),
        st.fixed_dictionaries({"equals": VALUES}),
    ),
).map(lambda one: {"select": {"name": one[0]}, "field": one[1], **one[2]})
TERMS = st.lists(TERM, min_size=1, max_size=2)
TOOLS = st.lists(NAMES, min_size=1, max_size=3)
CALL_BOUNDS = st.dictionaries(
    NAMES | st.sampled_from(["s*", "*"]),
    st.sampled_from([{"min": 1}, {"max": 0}, {"min": 1, "max": 1}, {"max": 2}]),
    min_size=1,
    max_size=2,
)
SEARCH = {"tool": "search"}


def blocks(layer, key, values, **beside):
    return values.map(lambda value: (layer, {key: value, **beside}))


ASKED = [
    blocks("correctness", "expected_in_answer", TERMS),
    blocks("correctness", "any_expected_in_answer", TERMS),
    blocks("correctness", "not_in_answer", TERMS),
    blocks("correctness", "exact_match", TEXT),
    blocks("correctness", "regex_match", PATTERNS),
    blocks("correctness", "json_schema", st.just({"type": "integer"})),
    blocks("correctness", "task_completed", st.booleans()),
    blocks("path", "expected_tools", TOOLS),
    blocks("path", "forbidden_tools", TOOLS | st.just(["s*"]) | st.just(["mcp_*"])),
    blocks("path", "min_tool_precision", st.sampled_from([0.4, 0.5, 1]), expected_tools=["s1"]),
    blocks("path", "min_tool_f1", st.sampled_from([0.4, 0.5, 1]), expected_tools=["s1"]),
    blocks("path", "expected_tool_sequence", TOOLS),
    blocks("path", "min_sequence_similarity", st.sampled_from([0.3, 0.5, 1])),
    blocks("path", "match_mode", st.sampled_from(["strict", "unordered", "subset", "superset"])),
    blocks("path", "order", TOOLS),
    blocks("path", "calls", CALL_BOUNDS),
    blocks("path", "max_loops", st.integers(0, 2)),
    blocks("path", "max_repeats", st.integers(1, 2)),
    blocks("path", "expected_handoff", NAMES),
    blocks("path", "span_assertions", st.lists(ASSERTIONS, min_size=1, max_size=2)),
    blocks(
        "path",
        "tool_args",
        st.lists(
            st.fixed_dictionaries(
                {
                    "tool": NAMES,
                    "args": st.dictionaries(st.sampled_from(["a", "s1"]), MATCHERS, max_size=2),
                    "exact": st.booleans(),
                    "only": st.booleans(),
                }
            ),
            min_size=1,
            max_size=2,
        ),
    ),
    blocks("retrieval", "forbid_empty", st.just(True), **SEARCH),
    blocks("retrieval", "min_results", st.integers(1, 3), **SEARCH),
    blocks("retrieval", "expected_sources", TERMS, **SEARCH),
    blocks("retrieval", "facts_in_context", TERMS, **SEARCH),
]


@pytest.mark.parametrize("asked", ASKED, ids=range(len(ASKED)))
@settings(property_test, max_examples=20)
@given(data=st.data())
def test_a_result_on_the_redacted_run_holds_for_the_original(asked, data):
    assert_same_or_unknown(asked, data)


@pytest.mark.drill
@pytest.mark.parametrize("asked", ASKED, ids=range(len(ASKED)))
@settings(property_test, max_examples=200)
@given(data=st.data())
def test_a_result_holds_for_many_runs(asked, data):
    assert_same_or_unknown(asked, data)


def assert_same_or_unknown(asked, data):
    """The result for the redacted run is that for the original run, or unknown."""
    layer, block = data.draw(asked)
    whole, before = data.draw(RUNS), data.draw(RUNS)
    redactor = Redactor([SECRET])

    def found(change):
        trace, baseline = (Trace.from_dict(change(value)) for value in (whole, before))
        return first(layer, block, trace, baseline)

    original, redacted = found(lambda value: value), found(redactor.plain)
    if redacted.status is not UNKNOWN:
        assert redacted.status is original.status, redacted.message
