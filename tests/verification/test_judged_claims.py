"""`claims: judge`: statements that the phrases leave over are put to a judge."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, Evaluator, LayerStatus, Step, Trace, evaluate
from trialrun.judge import Judge

EDIT = Step.tool_call("Edit", {"file_path": "/app/a.py", "new_string": "x"}, "ok")
# "Smooth sailing with the importer": nothing in these words shows a claim.
ODD = "Smooth sailing, importer-wise, folks."
CASE = {"query": "q", "verification": {"no_unsupported_claims": True, "claims": "judge"}}


def run(output, *steps):
    return Trace(input="q", output=output, steps=steps)


def check_of(result):
    (check,) = result.layers["verification"].checks
    return check


def test_a_statement_that_the_judge_takes_for_a_claim_needs_evidence():
    asked = []

    def judge(request):
        asked.append((request.answer, request.question, request.context[0].text))
        return 5

    case = EvalCase.from_dict(CASE)
    check = check_of(evaluate(case, run(ODD, EDIT), judge=Judge(judge)))
    assert (check.status.value, len(check.verdicts)) == ("fail", 1)
    assert ODD in check.message and "found by phrases and by a judge" in check.message
    assert asked == [(ODD, "q", ODD)]
    read = Step.tool_call("Read", {"file_path": "/app/a.py"}, "x")
    assert check_of(evaluate(case, run(ODD, EDIT, read), judge=Judge(judge))).status.value == "pass"


def test_one_that_it_does_not_is_left_alone():
    case = EvalCase.from_dict(CASE)
    assert (
        check_of(evaluate(case, run(ODD, EDIT), judge=Judge(lambda request: 1))).status.value
        == "pass"
    )


def test_what_the_phrases_find_is_not_asked_about():
    asked = []
    case = EvalCase.from_dict(CASE)
    evaluate(case, run("All tests pass.", EDIT), judge=Judge(lambda request: asked.append(1) or 5))
    assert asked == []


@pytest.mark.parametrize("reply", [None, 6, "5", 4.5])
def test_a_judge_that_gives_no_verdict_leaves_it_unknown(reply):
    case = EvalCase.from_dict(CASE)
    check = check_of(evaluate(case, run(ODD, EDIT), judge=Judge(lambda request: reply)))
    assert check.status.value == "unknown"


def test_without_a_judge_it_is_unknown():
    check = check_of(evaluate(EvalCase.from_dict(CASE), run(ODD, EDIT)))
    assert (check.status.value, check.message) == ("unknown", "no judge configured")


def test_without_claims_judge_nobody_is_asked():
    case = EvalCase.from_dict({"query": "q", "verification": {"no_unsupported_claims": True}})
    asked = []
    evaluate(case, run(ODD, EDIT), judge=Judge(lambda request: asked.append(1) or 5))
    assert asked == []


def test_in_a_conversation_each_turn_has_its_message():
    case = EvalCase.from_dict(
        {
            "name": "c",
            "turns": [
                {"query": "a", "verification": {"no_unsupported_claims": True, "claims": "judge"}},
                {"query": "b", "path": {"max_steps": 9}},
            ],
        }
    )
    trace = Trace(
        input="a", output="Fine.", steps=[EDIT, Step.human_input("b", metadata={"answered": ODD})]
    )
    seen = []
    evaluate(case, trace, judge=Judge(lambda request: seen.append(request.answer) or 1))
    assert seen == [ODD]


def test_the_evaluator_too():
    result = Evaluator(judge=Judge(lambda request: 5)).evaluate(
        run(ODD, EDIT), EvalCase.from_dict(CASE)
    )
    assert result.layers["verification"].status is LayerStatus.WARN
