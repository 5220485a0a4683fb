"""`claims: judge`: exactly the statements that no rule decides are put to a judge."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, Evaluator, LayerStatus, Step, Trace, evaluate
from trialrun.checks import _ledgers
from trialrun.judge import Judge

EDIT = Step.tool_call(
    "Edit", {"file_path": "/app/a.py", "old_string": "y", "new_string": "x"}, "ok"
)
TESTED = Step.tool_call("Bash", {"command": "cd /app && pytest -q"}, "3 passed in 0.1s")
ODD = "The importer is compatible with the older version."
CASE = {"query": "q", "verification": {"no_unsupported_claims": True, "claims": "judge"}}


def run(output, *steps):
    return Trace(input="q", output=output, steps=steps)


def check_of(result):
    (check,) = result.layers["verification"].checks
    return check


def asked_about(output, *steps, score=5, case=CASE):
    """The requests that the judge got, and the result of the check."""
    requests = []

    def judge(request):
        requests.append(request)
        return score

    result = evaluate(EvalCase.from_dict(case), run(output, *steps), judge=Judge(judge))
    return requests, check_of(result)


def test_a_statement_that_no_rule_decides_is_asked_about():
    requests, check = asked_about(ODD, EDIT, TESTED)
    assert [request.answer for request in requests] == [ODD]
    assert (check.status.value, len(check.verdicts)) == ("pass", 1)
    assert "undecided statements by a judge" in check.message


def test_a_statement_that_the_judge_does_not_find_shown_fails():
    _, check = asked_about(ODD, EDIT, TESTED, score=1)
    assert check.status.value == "fail" and ODD in check.message


def test_what_a_rule_or_a_run_decides_is_not_asked_about():
    assert asked_about("All tests pass.", EDIT, TESTED)[0] == []
    requests, check = asked_about("All tests pass.", EDIT)
    assert requests == [] and check.status.value == "fail"


def test_a_judge_cannot_overturn_a_rule():
    requests, check = asked_about(f"All tests pass. {ODD}", EDIT)
    assert [request.answer for request in requests] == [ODD]
    assert check.status.value == "fail" and "All tests pass." in check.message


def test_statements_of_earlier_turns_are_not_asked_about():
    said = Step.llm_call(model="m", output="The parser is compatible with the older version.")
    steps = (said, Step.human_input("Go on."), EDIT, TESTED)
    assert [request.answer for request in asked_about(ODD, *steps)[0]] == [ODD]


def note(number, text="nothing"):
    return Step.tool_call("Bash", {"command": f"cat notes/{number}"}, text)


def test_the_judge_gets_the_steps_that_bear_on_the_statement():
    others = [note(number) for number in range(200)]
    bearing = note("compatibility", "the importer is compatible: checked against older files")
    (request,), _ = asked_about(ODD, *others[:50], bearing, *others[50:], EDIT, TESTED)
    (context,) = request.context
    assert "checked against older files" in context.text
    assert context.text.index("older files") < context.text.index("3 passed")
    assert len(context.text.split("\n\n")) <= _ledgers.MOST_STEPS


def test_what_the_judge_gets_is_bounded():
    says = "\n".join(f"- The importer {number} is compatible." for number in range(60))
    steps = [note(number, "importer compatible " * 5_000) for number in range(100)]
    requests, _ = asked_about(says, *steps)
    assert len(requests) == _ledgers.MOST_ASKED
    longest = max(len(request.context[0].text) for request in requests)
    assert longest <= _ledgers.MOST_STEPS * (_ledgers.LONGEST_STEP + 10)


@pytest.mark.parametrize("reply", [None, 6, "5", 4.5])
def test_a_judge_that_gives_no_verdict_leaves_it_unknown(reply):
    assert asked_about(ODD, EDIT, TESTED, score=reply)[1].status.value == "unknown"


def test_without_a_judge_it_is_unknown():
    check = check_of(evaluate(EvalCase.from_dict(CASE), run(ODD, EDIT, TESTED)))
    assert (check.status.value, check.message) == ("unknown", "no judge configured")


def test_without_claims_judge_it_is_not_asked():
    case = {"query": "q", "verification": {"no_unsupported_claims": True}}
    requests, check = asked_about(ODD, EDIT, TESTED, case=case)
    assert requests == [] and check.status.value == "unknown"


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
    steps = [EDIT, TESTED, Step.human_input("b", metadata={"answered": ODD})]
    seen = []
    trace = Trace(input="a", output="Fine.", steps=steps)
    evaluate(case, trace, judge=Judge(lambda request: seen.append(request.answer) or 5))
    assert seen == [ODD]


def test_the_evaluator_too():
    case = EvalCase.from_dict(CASE)
    result = Evaluator(judge=Judge(lambda request: 1)).evaluate(run(ODD, EDIT, TESTED), case)
    assert result.layers["verification"].status is LayerStatus.WARN


def test_rules_are_selected_and_weighed_in_a_spec():
    block = {"no_unsupported_claims": True, "ignore": ["TR102"]}
    result = evaluate(
        EvalCase.from_dict({"query": "q", "verification": block}), run("All tests pass.", EDIT)
    )
    assert check_of(result).status.value == "unknown"
    with pytest.raises(ValueError, match="there is no rule `TR9`"):
        EvalCase.from_dict({"query": "q", "verification": {**block, "select": ["TR9"]}})
    with pytest.raises(ValueError, match="severity"):
        EvalCase.from_dict({"query": "q", "verification": {**block, "severity": {"TR102": 3}}})
