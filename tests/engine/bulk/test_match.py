"""`match: all` puts the checks of a case on every trace, `match: {…}` on those that fit."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, SpecError, Step, Trace, UsageError, load_suite, write_traces
from trialrun.engine.score import score
from trialrun.spec.load import load_suites

POLICY = """\
queries:
  - {name: no-refunds, match: MATCH, path: {forbidden_tools: [refund]}}
  - {name: one, query: first?, correctness: {exact_match: "1"}}
"""


def trace(number, tool="search", **given):
    given.setdefault("input", f"question {number}")
    steps = [Step.llm_call(given.pop("model", "gpt-4o-2024")), Step.tool_call(tool)]
    return Trace(id=f"t{number}", output="1", steps=steps, **given)


TRACES = [
    trace(0, agent_name="support-eu"),
    trace(1, tool="refund", agent_name="support-us", metadata={"service": "shop"}),
    trace(2, tool="refund", agent_name="sales", model="claude-x", metadata={"service": "crm"}),
    trace(3, input="first?", name=None),
]


def scored(place, match, traces=TRACES, names=()):
    (place / "spec.yaml").write_text(POLICY.replace("MATCH", match))
    write_traces(traces, place / "t.jsonl")
    run = score([load_suite(place / "spec.yaml")], [place / "t.jsonl"], names=names)
    found = [
        (result.trace_id, result.status.value)
        for result in run.results
        if result.case_name == "no-refunds"
    ]
    return run, found


def test_every_trace_is_judged_and_is_an_attempt(tmp_path):
    run, found = scored(tmp_path, "all")
    assert found == [("t0", "pass"), ("t1", "fail"), ("t2", "fail"), ("t3", "pass")]
    assert [r.attempt for r in run.results if r.case_name == "no-refunds"] == [1, 2, 3, 4]
    # The trace that answers `one` is judged by it, too, and none is without a case.
    assert [r.trace_id for r in run.results if r.case_name == "one"] == ["t3"]
    assert run.warnings == []
    assert (run.planned, run.exit_code()) == (2, 1)


@pytest.mark.parametrize(
    ("match", "ids"),
    [
        ('{agent: "support-*"}', ["t0", "t1"]),
        ("{agent: [sales, support-eu]}", ["t0", "t2"]),
        ("{service: shop}", ["t1"]),
        ('{model: "claude-*"}', ["t2"]),
        ('{agent: "support-*", service: shop}', ["t1"]),
    ],
)
def test_a_selection_by_agent_service_and_model(tmp_path, match, ids):
    run, found = scored(tmp_path, match)
    assert [trace_id for trace_id, _ in found] == ids
    assert sum("belongs to no case" in text for text in run.warnings) == len(
        {"t0", "t1", "t2"} - set(ids)
    )


def test_a_policy_that_no_trace_fits_is_an_error_and_never_a_pass(tmp_path):
    run, found = scored(tmp_path, "{agent: another}")
    assert found == [(None, "error")]
    assert run.exit_code() == 3


def test_a_conversation_is_judged_as_a_whole(tmp_path):
    steps = [Step.tool_call("search"), Step.human_input("and now?"), Step.tool_call("refund")]
    _, found = scored(tmp_path, "all", [Trace(id="c", input="hi", output="yes", steps=steps)])
    assert found == [("c", "fail")]


def test_at_the_top_of_a_spec_it_is_meant_for_all_its_cases(tmp_path):
    (tmp_path / "spec.yaml").write_text(
        "match: all\nqueries:\n  - {name: a, query: q, path: {forbidden_tools: [refund]}}\n"
    )
    write_traces(TRACES, tmp_path / "t.jsonl")
    run = score([load_suite(tmp_path / "spec.yaml")], [tmp_path / "t.jsonl"])
    assert [result.status.value for result in run.results] == ["pass", "fail", "fail", "pass"]


@pytest.mark.parametrize(
    ("match", "error"),
    [
        ("every", "expected `all`, or a mapping with agent, service, model"),
        ("{agnet: x}", "did you mean `agent`"),
        ("{}", "for every trace write `match: all`"),
        ("{agent: 7}", "agent"),
        ("{agent: []}", "agent"),
        ("all, trace: t.json", "a case with `match` has no `trace`"),
        ("all, turns: [{query: q}]", "a case with `match` has no `turns`"),
    ],
)
def test_mistakes_are_found_with_their_place(tmp_path, match, error):
    (tmp_path / "spec.yaml").write_text(POLICY.replace("MATCH", match))
    with pytest.raises(SpecError) as caught:
        load_suites(tmp_path / "spec.yaml")
    assert error in str(caught.value)
    assert "spec.yaml:2:" in str(caught.value)


def test_the_schema_knows_it():
    import jsonschema_rs

    from trialrun.spec.schema import spec_schema

    validator = jsonschema_rs.validator_for(spec_schema())
    for value, fits in (("all", True), ({"agent": "a*"}, True), ("some", False), ({}, False)):
        case = {"name": "a", "match": value, "path": {"max_steps": 3}}
        assert validator.is_valid({"queries": [case]}) is fits, value


def test_it_can_be_given_in_code():
    case = EvalCase.from_dict({"name": "p", "match": {"agent": "a*"}, "path": {"max_steps": 3}})
    assert case.match is not None
    assert case.match.fits("abc", None, []) and not case.match.fits("b", None, [])


def test_a_live_run_needs_a_question(tmp_path):
    from trialrun import run

    (tmp_path / "spec.yaml").write_text(POLICY.replace("MATCH", "all"))
    with pytest.raises(UsageError, match="has no `query` to ask: judge it with `trialrun score`"):
        run(load_suite(tmp_path / "spec.yaml"), lambda question: "1")
