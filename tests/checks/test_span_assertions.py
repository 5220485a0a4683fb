from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import EvalCase, Judge, Step, evaluate

SEARCH = {"type": "tool_call", "name": "search"}
REFUND = Step.tool_call("search", {"q": "refund"}, "refund within 30 days")


def result_of(value):
    return Step.tool_call("search", {}, value)


def found(assertions, *steps, **fields):
    return first("path", {"span_assertions": assertions}, run(*steps, **fields))


def is_met(step, select=None, field="tool_result", **asserted):
    return found([{"select": select or SEARCH, "field": field, **asserted}], step).status


def test_the_documented_example():
    assert is_met(REFUND, contains="refund") is PASS
    assert is_met(REFUND, contains="60 days") is FAIL


def test_not_contains():
    assert is_met(REFUND, not_contains="error") is PASS
    assert is_met(REFUND, not_contains="refund") is FAIL


def test_regex():
    assert is_met(REFUND, regex=r"\d+ days$") is PASS
    assert is_met(REFUND, regex=r"^\d+ days") is FAIL


@pytest.mark.parametrize(
    ("value", "equals", "status"),
    [
        ("a", "a", PASS),
        ("a", "A", FAIL),
        (1, 1.0, PASS),
        (1, True, FAIL),
        ({"n": [1]}, {"n": [1]}, PASS),
        ({"n": [1]}, {"n": [2]}, FAIL),
    ],
)
def test_equals(value, equals, status):
    assert is_met(result_of(value), equals=equals) is status


def test_all_conditions_of_an_assertion_must_be_met():
    assert is_met(REFUND, contains="refund", not_contains="error") is PASS
    assert is_met(REFUND, contains="refund", not_contains="days") is FAIL


def test_all_selected_steps_must_meet_the_assertion():
    asserted = [{"select": SEARCH, "field": "tool_result", "contains": "refund"}]
    assert found(asserted, REFUND, REFUND).status is PASS
    assert found(asserted, REFUND, result_of("nothing")).status is FAIL
    assert found(asserted, result_of("nothing"), REFUND).status is FAIL


def test_steps_that_are_not_selected_do_not_matter():
    other = Step.tool_call("browse", {}, "nothing")
    asserted = [{"select": SEARCH, "field": "tool_result", "contains": "refund"}]
    assert found(asserted, other, REFUND).status is PASS


def test_selecting_no_step_fails():
    asserted = [{"select": SEARCH, "field": "tool_result", "not_contains": "error"}]
    assert found(asserted).status is FAIL
    assert found(asserted, Step.tool_call("browse")).status is FAIL


def test_every_assertion_must_be_met():
    good = {"select": SEARCH, "field": "tool_result", "contains": "refund"}
    bad = {"select": SEARCH, "field": "tool_result", "contains": "60 days"}
    assert found([good, good], REFUND).status is PASS
    assert found([good, bad], REFUND).status is FAIL
    assert found([bad, good], REFUND).status is FAIL


def test_steps_are_selected_by_type_alone_or_by_name_alone():
    assert is_met(REFUND, select={"type": "tool_call"}, contains="refund") is PASS
    assert is_met(REFUND, select={"name": "search"}, contains="refund") is PASS
    assert is_met(REFUND, select={"type": "llm_call"}, contains="refund") is FAIL


@pytest.mark.parametrize(
    ("step", "kind", "field", "text"),
    [
        (Step.llm_call("m", "asked", "said"), "llm_call", "output", "said"),
        (Step.llm_call("m", "asked", "said"), "llm_call", "input", "asked"),
        (Step.llm_call("m", "asked", "said"), "llm_call", "model", "m"),
        (Step.reasoning("because"), "reasoning", "reasoning_text", "because"),
        (Step.handoff("billing"), "handoff", "handoff_to", "billing"),
        (Step.tool_call("a", {"q": "refund"}), "tool_call", "tool_args", "refund"),
        (Step.tool_call("a", status="failure"), "tool_call", "status", "failure"),
        (Step.tool_call("a", error="timed out"), "tool_call", "error", "timed out"),
    ],
)
def test_many_fields_can_be_asserted(step, kind, field, text):
    assert is_met(step, select={"type": kind}, field=field, contains=text) is PASS
    assert is_met(step, select={"type": kind}, field=field, not_contains=text) is FAIL


def test_a_search_past_its_limit_is_unknown():
    assert is_met(result_of("a" * 60 + "!"), regex="(a|aa)+$") is UNKNOWN


@pytest.mark.parametrize(
    ("field", "kind"), [("tool_result", "tool_results"), ("tool_args", "tool_args")]
)
def test_a_field_that_was_not_recorded_is_unknown(field, kind):
    asserted = [{"select": SEARCH, "field": field, "not_contains": "error"}]
    assert found(asserted, REFUND, without=[kind]).status is UNKNOWN


def test_reasoning_that_was_not_recorded_is_unknown():
    select = {"type": "reasoning"}
    asserted = [{"select": select, "field": "reasoning_text", "contains": "because"}]
    assert found(asserted, without=["reasoning"]).status is UNKNOWN


@pytest.mark.parametrize(
    "assertion",
    [
        {"select": SEARCH, "field": "tool_result"},
        {"select": SEARCH, "contains": "a"},
        {"field": "tool_result", "contains": "a"},
        {"select": SEARCH, "field": "tool_result", "contains": ""},
        {"select": SEARCH, "field": "tool_result", "regex": "("},
        {"select": SEARCH, "field": "tool_results", "contains": "a"},
        {"select": {"type": "tool"}, "field": "tool_result", "contains": "a"},
        {"select": SEARCH, "field": "tool_result", "contain": "a"},
    ],
)
def test_an_assertion_that_cannot_work_is_a_spec_error(assertion):
    assert "span_assertions" in refusal("path", {"span_assertions": [assertion]})


def test_a_list_without_assertions_is_a_spec_error():
    assert "span_assertions" in refusal("path", {"span_assertions": []})


DEEP = Step.tool_call(
    "search",
    {"query": "refund", "page": {"size": 2}},
    {"items": [{"id": "a"}, {"id": "b"}]},
    metadata={"user": {"name": "ann"}},
)


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("tool_args.query", "refund", PASS),
        ("tool_args.query", "other", FAIL),
        ("tool_args.page.size", 2, PASS),
        ("tool_args.missing", "x", FAIL),
        ("tool_args.query.deeper", "x", FAIL),
        ("tool_result.items.0.id", "a", PASS),
        ("tool_result.items.1.id", "a", FAIL),
        ("tool_result.items.2.id", "a", FAIL),
        ("tool_result.items.-1.id", "b", FAIL),
        ("metadata.user.name", "ann", PASS),
    ],
)
def test_a_field_may_be_a_path(field, value, status):
    block = {"span_assertions": [{"select": {"name": "search"}, "field": field, "equals": value}]}
    assert first("path", block, run(DEEP)).status is status


def test_a_path_reads_a_text_that_is_json():
    step = Step.tool_call("search", {}, '{"items": [{"id": "a"}]}')
    item = {"select": {"name": "search"}, "field": "tool_result.items.0.id", "equals": "a"}
    assert first("path", {"span_assertions": [item]}, run(step)).status is PASS


def test_a_path_through_a_mask_is_unknown():
    item = {"select": {"name": "search"}, "field": "tool_args.key", "not_contains": "x"}
    for arguments in ({"key": "[redacted]"}, {"[redacted]": "y"}):
        step = Step.tool_call("search", arguments)
        assert first("path", {"span_assertions": [item]}, run(step)).status is UNKNOWN


@pytest.mark.parametrize(
    "field", ["tool_arg.query", "status.code", "tool_args.", "", "tool_args..x"]
)
def test_a_path_that_cannot_be_is_a_spec_error(field):
    item = {"select": {"name": "search"}, "field": field, "contains": "x"}
    assert "span_assertions" in refusal("path", {"span_assertions": [item]})


def with_rubric(judge, *steps, **more):
    item = {"select": {"name": "search"}, "field": "tool_result", "rubric": {"rule": "good"}}
    case = EvalCase.from_dict(
        {"query": "question", "path": {"span_assertions": [{**item, **more}]}}
    )
    (found,) = evaluate(case, run(*steps), judge=judge).layers["path"].checks
    return found


def test_a_rubric_is_put_to_each_selected_step():
    asked = []

    def score(request):
        asked.append((request.answer, request.question))
        return 5 if "30 days" in request.answer else 1

    steps = [Step.tool_call("search", {}, text) for text in ("30 days", "nothing of use")]
    assert with_rubric(Judge(score), steps[0]).status is PASS
    assert asked == [("30 days", "question")]
    found = with_rubric(Judge(score), *steps)
    assert found.status is FAIL
    assert len(found.verdicts) == 2
    structured = Step.tool_call("search", {}, {"items": ["30 days"]})
    assert with_rubric(Judge(score), structured).status is PASS
    assert with_rubric(Judge(score), structured, field="tool_result.items.0").status is PASS


def test_a_rubric_is_not_put_where_it_cannot_be_answered():
    def score(request):
        raise AssertionError("asked")

    def status(*steps, **more):
        return with_rubric(Judge(score), *steps, **more).status

    assert status() is FAIL  # selects no step
    assert status(Step.tool_call("search")) is UNKNOWN
    assert status(Step.tool_call("search", {}, "a"), contains="b") is FAIL
    assert status(Step.tool_call("search", {}, "the key [redacted]")) is UNKNOWN
    assert with_rubric(None, Step.tool_call("search", {}, "a")).status is UNKNOWN
