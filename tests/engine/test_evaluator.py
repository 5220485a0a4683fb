"""`Evaluator`, and the order of the arguments of `evaluate`."""

from __future__ import annotations

import asyncio

import pytest

from trialrun import EvalCase, Evaluator, Step, Trace, evaluate, evaluate_async
from trialrun.checks import (
    AnyOf,
    Check,
    ExpectedInAnswer,
    ForbiddenTools,
    MaxSteps,
    MaxToolCalls,
    check,
)
from trialrun.errors import UsageError
from trialrun.model.results import CheckStatus, Severity

CASE = EvalCase.from_dict(
    {"name": "how-long", "query": "How long?", "correctness": {"expected_in_answer": ["30 days"]}}
)
TRACE = Trace(
    input="How long?",
    output="Within 30 days.",
    steps=[Step.tool_call("search", {}, ["a"]), Step.tool_call("search", {}, ["b"])],
)


def test_trace_and_case_may_change_places():
    wanted = evaluate(CASE, TRACE).status
    assert evaluate(TRACE, CASE).status is wanted
    assert Evaluator().evaluate(TRACE, CASE).status is wanted
    assert Evaluator().evaluate(CASE, TRACE).status is wanted
    assert asyncio.run(evaluate_async(TRACE, CASE)).status is wanted
    assert asyncio.run(Evaluator().evaluate_async(CASE, TRACE)).status is wanted


@pytest.mark.parametrize("pair", [(CASE, CASE), (TRACE, TRACE), (None, TRACE), (CASE, {})])
def test_anything_else_is_refused(pair):
    for function in (evaluate, Evaluator().evaluate):
        with pytest.raises(UsageError, match="takes a case and a trace"):
            function(*pair)


@pytest.mark.parametrize(
    "given",
    [
        MaxToolCalls(limit=1, severity=Severity.FAIL),
        {"max_tool_calls": {"value": 1, "severity": "fail"}},
    ],
)
def test_checks_are_added_to_those_of_the_case(given):
    result = Evaluator(checks=[given]).evaluate(TRACE, CASE)
    assert result.status.value == "fail"
    assert [check.name for _, check in result.checks()] == ["expected_in_answer", "max_tool_calls"]
    assert evaluate(CASE, TRACE).status.value == "pass"  # the case itself is not changed


def test_added_checks_need_their_evidence():
    silent = Trace(input="How long?", output="30 days", recorded=frozenset())
    result = Evaluator(checks=[{"max_tool_calls": 1}]).evaluate(silent, CASE)
    assert result.layers["path"].checks[0].status is CheckStatus.UNKNOWN


@check(layer="correctness", needs=["answer"])
class Polite(Check):
    word: str

    def judge(self, trace, baseline):
        return self.pass_result if self.word in trace.output else self.failed("not polite")


def test_a_custom_check_as_an_object():
    evaluator = Evaluator(metrics=[], checks=[Polite(word="please")])
    assert evaluator.evaluate(TRACE, CASE).status.value == "fail"
    evaluator.add_check({"min_steps": 1})
    kind = EvalCase.from_dict({"query": "q", "path": {"min_steps": 1}})
    result = evaluator.evaluate(Trace(input="q", output="please", steps=TRACE.steps), kind)
    assert result.status.value == "pass"
    assert [check.name for _, check in result.checks()] == ["polite", "min_steps", "min_steps"]


@pytest.mark.parametrize(
    ("given", "said"),
    [({"max_tool_cals": 1}, "did you mean `max_tool_calls`"), ({}, "expected a check"), (5, "5")],
)
def test_other_objects_are_refused(given, said):
    with pytest.raises(UsageError, match=said):
        Evaluator(checks=[given])


@pytest.mark.parametrize(
    "made",
    [
        lambda: ForbiddenTools("rm"),
        lambda: ExpectedInAnswer("no refund"),
        lambda: ExpectedInAnswer([]),
        lambda: ExpectedInAnswer([""]),
        lambda: MaxSteps(limit="x"),
        lambda: MaxSteps(limit=-1),
        lambda: AnyOf([ForbiddenTools("rm"), MaxSteps(limit=3)]),
    ],
)
def test_a_check_with_settings_that_a_spec_could_not_have_is_refused(made):
    with pytest.raises((UsageError, ValueError)):
        Evaluator(checks=[made()])


@pytest.mark.parametrize(
    "check",
    [
        ForbiddenTools(["rm"]),
        ExpectedInAnswer(["refund", ["30 days", "a month"]]),
        MaxSteps(limit=0),
        AnyOf([ForbiddenTools(["rm"]), MaxSteps(limit=3)]),
    ],
)
def test_a_check_with_valid_settings_is_taken(check):
    assert Evaluator(checks=[check]).checks == [check]
