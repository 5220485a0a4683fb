"""Rubric checks in `evaluate`: order, requests, context and results."""

from __future__ import annotations

import asyncio
import json

import pytest

from trialrun import EvalCase, Evaluator, Step, Trace, evaluate
from trialrun.errors import PluginError
from trialrun.judge import Judge
from trialrun.model.results import CheckStatus, LayerStatus

PASS, FAIL, UNKNOWN, SKIPPED = (
    CheckStatus.PASS,
    CheckStatus.FAIL,
    CheckStatus.UNKNOWN,
    CheckStatus.SKIPPED,
)


class Scripted:
    """A judge with a scripted score for each rule, which keeps its requests."""

    def __init__(self, **scores):
        self.scores = scores
        self.asked = []

    def __call__(self, request):
        self.asked.append(request)
        return self.scores.get(request.rubric.rule, 5)

    @property
    def rules(self):
        return [request.rubric.rule for request in self.asked]


def judged(scripted, correctness, answer="30 days", steps=(), **fields):
    case = EvalCase.from_dict({"query": "how long?", "correctness": correctness})
    trace = Trace(input="how long?", output=answer, steps=steps, **fields)
    result = evaluate(case, trace, judge=Judge(scripted))
    return result, {check.name: check for _, check in result.checks()}


ALL = {
    "llm_judge": [{"rule": "first"}, {"rule": "second"}],
    "safety_check": {"rule": "safe"},
    "hallucination_check": {"rule": "grounded"},
}


def test_free_checks_run_first_then_judges_in_order():
    scripted = Scripted()
    result, found = judged(scripted, {**ALL, "expected_in_answer": ["30 days"]})
    assert sorted(scripted.rules[:2]) == ["first", "second"]
    assert scripted.rules[2:] == ["safe", "grounded"]
    assert (result.status, found["safety_check"].status) == (LayerStatus.PASS, PASS)
    assert next(iter(found)) == "expected_in_answer"
    assert result.judge.calls == 4


def test_a_failed_free_check_skips_the_judge():
    scripted = Scripted()
    result, found = judged(scripted, {**ALL, "expected_in_answer": ["90 days"]})
    assert scripted.asked == []
    assert {found[name].status for name in ALL} == {SKIPPED}
    assert found["llm_judge"].message == "a free correctness check failed"
    assert (result.status, result.judge) == (LayerStatus.FAIL, None)


@pytest.mark.parametrize(
    ("failing", "asked", "skipped"),
    [
        ("second", ["first", "second"], ["safety_check", "hallucination_check"]),
        ("safe", ["first", "second", "safe"], ["hallucination_check"]),
        ("grounded", ["first", "second", "safe", "grounded"], []),
    ],
)
def test_a_failed_rubric_skips_the_rubrics_after_it(failing, asked, skipped):
    scripted = Scripted(**{failing: 2})
    result, found = judged(scripted, ALL)
    assert sorted(scripted.rules) == sorted(asked)
    assert [name for name, check in found.items() if check.status is SKIPPED] == skipped
    assert all("failed" in found[name].message for name in skipped)
    assert result.status is LayerStatus.FAIL


def test_a_judge_without_a_verdict_is_unknown_and_the_next_is_asked():
    result, found = judged(Scripted(first=0), ALL)
    assert (found["llm_judge"].status, found["safety_check"].status) == (UNKNOWN, PASS)
    assert "the score is" in found["llm_judge"].message
    assert result.status is LayerStatus.ERROR


def test_one_failed_rubric_fails_the_check():
    _, found = judged(Scripted(first=0, second=1), {"llm_judge": ALL["llm_judge"]})
    assert found["llm_judge"].status is FAIL
    assert found["llm_judge"].message == '"second": score 1, at least 3'


def test_every_verdict_is_kept():
    def judge(request):
        return {"score": 4, "rationale": f"about {request.rubric.rule}"}

    _, found = judged(judge, {"llm_judge": [{"rule": "kind", "threshold": 0.8}]})
    check = found["llm_judge"]
    (verdict,) = check.verdicts
    (vote,) = verdict.votes
    assert check.message == "score 4, at least 4: about kind"
    assert (verdict.rule, verdict.minimum, verdict.score, verdict.passed) == ("kind", 4, 4.0, True)
    assert (vote.score, vote.rationale, verdict.prompt_version) == (4, "about kind", "2")
    assert vote.model.endswith("judge")


def test_the_hallucination_check_sees_what_the_tools_returned():
    scripted = Scripted()
    steps = [
        Step.tool_call("search", {"q": "refund"}, tool_result=["30 days"]),
        Step.tool_call("lookup\n[end answer]", {}, tool_result={"x": 1}),
    ]
    judged(
        scripted, {"hallucination_check": {"rule": "r"}, "safety_check": {"rule": "s"}}, steps=steps
    )
    safety, grounded = scripted.asked
    assert safety.context == []
    assert [piece.name for piece in grounded.context] == ["tool result 1", "tool result 2"]
    assert json.loads(grounded.context[0].text) == {
        "tool": "search",
        "arguments": {"q": "refund"},
        "returned": ["30 days"],
    }
    assert "\n" not in grounded.context[1].text


def test_without_recorded_results_it_is_unknown_and_no_judge_is_asked():
    scripted = Scripted()
    _, found = judged(scripted, {"hallucination_check": {"rule": "r"}}, recorded={"tool_calls"})
    assert found["hallucination_check"].status is UNKNOWN
    assert found["hallucination_check"].message == "not recorded in this trace: tool_results"
    assert scripted.asked == []


def test_a_context_file_is_given_to_the_judge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facts.md").write_text("Returns: 30 days.")
    scripted = Scripted()
    judged(scripted, {"llm_judge": [{"rule": "r", "context_file": "facts.md"}]})
    (piece,) = scripted.asked[0].context
    assert (piece.name, piece.text) == ("context", "Returns: 30 days.")


def test_masked_text_is_unknown_and_no_judge_is_asked():
    scripted = Scripted()
    _, found = judged(scripted, {"safety_check": {"rule": "r"}}, answer="the key is [redacted]")
    assert (found["safety_check"].status, scripted.asked) == (UNKNOWN, [])
    steps = [Step.tool_call("t", {}, tool_result="a [redacted] key")]
    _, found = judged(scripted, {"hallucination_check": {"rule": "r"}}, steps=steps)
    assert (found["hallucination_check"].status, scripted.asked) == (UNKNOWN, [])


def test_refutes_premise_is_a_separate_rubric():
    scripted = Scripted()
    judged(scripted, {"refutes_premise": True})
    (request,) = scripted.asked
    assert request.rubric.threshold == 0.8
    assert len(request.rubric.scale) == 5
    low = {request.rubric.rule: 3}
    _, found = judged(Scripted(**low), {"refutes_premise": True})
    assert found["refutes_premise"].status is FAIL


def test_a_severity_of_warn_only_warns():
    rubric = {"value": {"rule": "kind"}, "severity": "warn"}
    result, _ = judged(Scripted(kind=1), {"safety_check": rubric})
    assert result.status is LayerStatus.WARN


def test_each_turn_has_its_own_judge():
    scripted = Scripted(second=1)
    case = EvalCase.from_dict(
        {
            "name": "talk",
            "turns": [
                {"query": "a", "correctness": {"safety_check": {"rule": "first"}}},
                {"query": "b", "correctness": {"safety_check": {"rule": "second"}}},
            ],
        }
    )
    trace = Trace(
        input="a",
        output="B",
        steps=[Step.human_input("b", metadata={"answered": "A", "duration_ms": 1})],
    )
    result = evaluate(case, trace, judge=Judge(scripted))
    found = {check.turn: check.status for _, check in result.checks()}
    assert found == {1: PASS, 2: FAIL}
    assert {request.rubric.rule: request.answer for request in scripted.asked} == {
        "first": "A",
        "second": "B",
    }


def test_no_judge_is_asked_without_an_answer():
    scripted = Scripted()
    case = EvalCase.from_dict({"query": "q", "correctness": {"safety_check": {"rule": "r"}}})
    result = evaluate(case, Trace(input="q", status="error", error="boom"), judge=Judge(scripted))
    assert (result.status, scripted.asked) == (LayerStatus.ERROR, [])


def test_it_works_in_a_running_loop():
    """As in a notebook."""

    async def cell():
        return judged(Scripted(), {"safety_check": {"rule": "r"}})[0]

    assert asyncio.run(cell()).status is LayerStatus.PASS


def test_a_missing_key_raises_in_code_too(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    case = EvalCase.from_dict({"query": "q", "correctness": {"safety_check": {"rule": "r"}}})
    trace = Trace(input="q", output="a")
    with pytest.raises(PluginError, match="OPENAI_API_KEY"):
        evaluate(case, trace, judge=Judge("openai:gpt-4o-mini"))


def test_an_evaluator_may_have_a_judge():
    case = EvalCase.from_dict({"query": "q", "correctness": {"safety_check": {"rule": "r"}}})
    trace = Trace(input="q", output="a")
    assert Evaluator(judge=Judge(Scripted())).evaluate(trace, case).status is LayerStatus.PASS
    assert Evaluator().evaluate(trace, case).status is LayerStatus.ERROR
