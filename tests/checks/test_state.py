"""`state`: the results of actions that ran after the agent, and how a spec names the actions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import first, outcome, property_test, refusal, run
from trialrun import EvalCase
from trialrun.model.case import Action
from trialrun.model.results import CheckStatus, LayerStatus
from trialrun.spec.case import build, plan_of

TESTS = ["pytest", "-q"]


def fact(outcome, detail=""):
    return {"outcome": outcome, "detail": detail}


def with_results(*, answer="done", **facts):
    return run(answer=answer, metadata={"state": facts})


def judged(value, trace):
    return first("correctness", {"state": value}, trace)


BOTH = [{"name": "one", "command": ["a"]}, {"name": "two", "command": ["b"]}]


@pytest.mark.parametrize(
    ("one", "two", "status", "message"),
    [
        ("held", "held", "pass", "the state is as it should be"),
        ("held", "broken", "fail", "`two` failed: why"),
        ("broken", "broken", "fail", "`one` failed: why; `two` failed: why"),
        ("unknown", "held", "unknown", "`one` gave no result: why"),
        ("unknown", "broken", "fail", "`two` failed: why"),
        ("maybe", "held", "unknown", "the trace has no result of `one`"),
        ("maybe", "broken", "fail", "`two` failed: why"),
    ],
)
def test_failed_outranks_unknown_and_unknown_outranks_passed(one, two, status, message):
    found = judged(BOTH, with_results(one=fact(one, "why"), two=fact(two, "why")))
    assert (found.status.value, found.message) == (status, message)


def test_a_trace_without_results_of_actions_is_unknown():
    for trace in (run(), run(metadata={"state": {}}), with_results(other=fact("held"))):
        found = judged(TESTS, trace)
        assert found.status is CheckStatus.UNKNOWN
        assert found.message == "the trace has no result of `pytest -q`"


NOT_FACTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@property_test
@given(facts=NOT_FACTS, outcome=NOT_FACTS, detail=NOT_FACTS)
def test_malformed_results_of_actions_are_unknown(facts, outcome, detail):
    for state in (facts, {"pytest -q": facts}, {"pytest -q": fact(outcome, detail)}):
        found = judged(TESTS, run(metadata={"state": state}))
        assert found.status is CheckStatus.UNKNOWN
        assert found.message


def test_a_detail_that_is_not_text_is_left_out():
    assert judged(TESTS, with_results(**{"pytest -q": fact("broken", [1])})).message == (
        "`pytest -q` failed"
    )


def test_a_long_detail_is_cut():
    for result in ("broken", "unknown"):
        trace = with_results(**{"pytest -q": fact(result, "x" * 10_000)})
        assert len(judged(TESTS, trace).message) < 2100


def test_it_is_judged_even_if_the_agent_gave_no_answer():
    trace = with_results(answer=None, **{"pytest -q": fact("broken", "exit 1")})
    result = outcome("correctness", {"state": TESTS}, trace)
    assert result.status is LayerStatus.FAIL


# Forms in a spec


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("m:f", [Action(function="m:f", name="m:f")]),
        (["pytest", "-q"], [Action(command=("pytest", "-q"), name="pytest -q")]),
        (["a b", "c"], [Action(command=("a b", "c"), name="'a b' c")]),
        (["m:f"], [Action(function="m:f")]),
        (["m:f", "m:g"], [Action(function="m:f"), Action(function="m:g")]),
        (["docker", "image:tag"], [Action(command=("docker", "image:tag"))]),
        (["pytest", "tests/a.py::b"], [Action(command=("pytest", "tests/a.py::b"))]),
        ([["ls"], "m:f"], [Action(command=("ls",)), Action(function="m:f")]),
        ([["ls"], ["ls"]], [Action(command=("ls",)), Action(command=("ls",), name="ls (2)")]),
        ({"name": "n", "function": "m:f"}, [Action(function="m:f", name="n")]),
        ([{"command": ["ls"]}], [Action(command=("ls",))]),
        (
            [{"name": "ls", "command": ["ls", "-l"]}, ["ls"]],
            [Action(command=("ls", "-l"), name="ls"), Action(command=("ls",), name="ls (2)")],
        ),
    ],
)
def test_accepted_forms(value, expected):
    for data in ({"correctness": {"state": value}}, {"state": value}):
        case = EvalCase.from_dict({"query": "q", **data})
        assert list(case.state) == expected
        (layer,) = case.plan.free
        assert [check.name for check in layer.checks] == ["state"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("pytest", "a command is a list, such as"),
        ([["ls"], "pytest"], 'found the text "pytest"; a command is a list'),
        ([], "a list that is not empty"),
        ([[]], "a list of texts that is not empty"),
        ([""], "text that is not empty"),
        ("", "text that is not empty"),
        (5, "expected text or a mapping or a list"),
        ([5], "state[0]: expected text or a list or a mapping"),
        ([["ls", 5]], "state[0][1]: expected text"),
        ([{"name": "a"}], "state[0]: give `command` or `function`"),
        ([{"command": ["a"], "function": "m:f"}], "give `command` or `function`, one of them"),
        ([{"comand": ["a"]}], "did you mean `command`?"),
        ([{"function": "f"}], "state[0]: expected module:function"),
        ([{"command": "ls"}], "state[0].command: expected a list, found"),
        (
            [{"name": "a", "command": ["b"]}, {"name": "a", "function": "m:f"}],
            "two of them are named `a`",
        ),
    ],
)
def test_refused_forms(value, words):
    assert words in refusal("correctness", {"state": value})


def test_it_is_refused_if_given_twice():
    words = refusal("correctness", {"state": "m:f"}, state="m:g")
    assert words == "state: is given in `correctness` too: give it once"


def test_a_severity_may_be_given_in_both_places():
    wrapped = {"value": TESTS, "severity": "warn"}
    broken = with_results(**{"pytest -q": fact("broken")})
    assert outcome("correctness", {"state": wrapped}, broken).status is LayerStatus.WARN
    case = EvalCase.from_dict({"query": "q", "state": wrapped})
    assert case.plan.free[0].checks[0].severity.value == "warn"
    case.path = {"max_steps": 1}  # the plan is built again, and the severity stays
    assert plan_of(case).free[0].checks[0].severity.value == "warn"
    assert [action.name for action in case.state] == ["pytest -q"]


# Cases in code


def test_a_case_in_code_accepts_actions_and_plain_forms():
    for state in ([Action(command=("pytest", "-q"))], TESTS, [TESTS]):
        case = build(EvalCase(query="q", state=state))
        assert list(case.state) == [Action(command=("pytest", "-q"))]
        assert case.number_of_checks() == 1
    case = build(EvalCase(query="q", correctness={"exact_match": "a", "state": "m:f"}))
    assert list(case.state) == [Action(function="m:f")]
    assert case.number_of_checks() == 2


def test_assigning_state_changes_the_check():
    case = build(EvalCase(query="q", correctness={"exact_match": "a", "state": "m:f"}))
    case.state = [Action(function="m:g")]
    assert [check.name for check in plan_of(case).free[0].checks] == ["exact_match", "state"]
    assert list(case.state) == list(plan_of(case).free[0].checks[1].actions)
    assert case.state[0].function == "m:g"
    case.state = ()
    assert [check.name for check in plan_of(case).free[0].checks] == ["exact_match"]
    case.path = {"max_steps": 1}
    assert case.state == () and case.number_of_checks() == 2


def test_replacing_the_block_keeps_the_state_next_to_it():
    case = EvalCase.from_dict({"query": "q", "state": "m:f"})
    case.correctness = {"exact_match": "a"}
    assert [check.name for check in plan_of(case).free[0].checks] == ["exact_match", "state"]


def test_an_action_is_a_command_or_a_function():
    for wrong in ({}, {"command": ("a",), "function": "m:f"}):
        with pytest.raises(ValueError, match="give one of them"):
            Action(**wrong)
