"""Plain functions as checks."""

from __future__ import annotations

import asyncio

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, run
from trialrun import (
    CheckResult,
    EvalCase,
    Evaluator,
    Step,
    Trace,
    UsageError,
    evaluate,
    evaluate_async,
    load_suite,
)
from trialrun.checks import check
from trialrun.errors import SpecError
from trialrun.model.results import CheckStatus, Severity

SPEC = """
version: 1
agent: a
queries:
  - query: q
    correctness: {"my_functions:polite": true}
    path: {"my_functions:few": {value: true, severity: fail}, any_of: [{"my_functions:few": true}]}
"""
MODULE = '''
def polite(answer):
    """The answer says please."""
    return "please" in answer or "does not say please"


async def few(trace, case):
    return len(trace.tool_calls) < 2 and case.query == "q"
'''


def polite(answer):
    return "please" in answer or "does not say please"


def returns(value):
    def made(answer):
        return value

    return made


def judged(function, trace=None):
    case = EvalCase.from_dict({"query": "question", "correctness": {"expected_in_answer": ["a"]}})
    result = Evaluator(checks=[function]).evaluate(trace or run(answer="a"), case)
    return next(one for _, one in result.checks() if one.name != "expected_in_answer")


@pytest.mark.parametrize(
    ("value", "status", "said"),
    [
        (True, PASS, "True"),
        (False, FAIL, "returned False"),
        ("too short", FAIL, "too short"),
        (None, UNKNOWN, "returned nothing"),
        ("", UNKNOWN, "returned ''"),
        (1, UNKNOWN, "returned 1"),
        ((False, "why"), UNKNOWN, "expected True, False, a reason"),
        (CheckResult("x", CheckStatus.FAIL, Severity.WARN, "mine"), FAIL, "mine"),
        (CheckResult("x", CheckStatus.SKIPPED, Severity.WARN, "no"), CheckStatus.SKIPPED, "no"),
    ],
)
def test_what_a_function_may_return(value, status, said):
    result = judged(returns(value))
    assert result.status is status
    assert said in result.message
    assert result.name == "made"


def test_numpy_booleans_are_booleans():
    numpy = pytest.importorskip("numpy")
    assert judged(returns(numpy.True_)).status is PASS
    assert judged(returns(numpy.False_)).status is FAIL


def test_raising_is_unknown():
    def broken(answer):
        raise RuntimeError("boom")

    result = judged(broken)
    assert result.status is UNKNOWN
    assert "RuntimeError: boom" in result.message


def test_parameters_are_given_by_name():
    seen = {}

    def looks(case, tool_calls, steps, trace, output, input, baseline=3, other=4):
        seen.update(locals())
        return True

    trace = run(Step.tool_call("x"), answer="a")
    assert judged(looks, trace).status is PASS
    assert seen["case"].query == "question"
    assert (seen["output"], seen["input"], seen["other"]) == ("a", "question", 4)
    assert seen["trace"] is trace
    assert [step.tool_name for step in seen["tool_calls"]] == ["x"]
    assert seen["baseline"] is None


def test_a_function_is_unknown_without_its_evidence():
    bare = Trace.from_dict({"input": "question", "output": "a please"})
    assert judged(polite, bare).status is PASS
    assert judged(lambda trace: True, bare).status is UNKNOWN
    assert judged(lambda steps: True, bare).status is UNKNOWN
    assert judged(lambda answer, tool_calls: True, bare).status is UNKNOWN

    @check(layer="cost", needs={"answer"})
    def declared(trace):
        return True

    assert judged(declared, bare).status is PASS
    silent = Trace(input="question", output=None, steps=[])
    assert judged(polite, silent).status is UNKNOWN


def test_masked_runs_are_unknown():
    assert judged(polite, run(answer="a please [redacted]")).status is UNKNOWN
    secret = run(Step.tool_call("x", {"key": "[redacted]"}), answer="a please")
    assert judged(polite, secret).status is PASS
    assert judged(lambda trace: True, secret).status is UNKNOWN


def test_async_functions_work_with_and_without_a_loop():
    async def slow(answer):
        await asyncio.sleep(0)
        return "a" in answer

    async def inside():
        case = EvalCase.from_dict({"query": "q", "correctness": {f"{__name__}:later": True}})
        return await evaluate_async(case, run(answer="no")), evaluate(case, run(answer="a"))

    assert judged(slow).status is PASS
    first_result, second = asyncio.run(inside())
    assert first_result.status.value == "fail"
    assert second.status.value == "pass"


async def later(answer):
    await asyncio.sleep(0)
    return "a" in answer


def test_the_decorator_sets_layer_severity_and_name():
    @check(layer="path", severity=Severity.FAIL, name="short_path")
    def some(trace):
        return "too long"

    assert callable(some)
    case = EvalCase.from_dict({"query": "question", "correctness": {"expected_in_answer": ["a"]}})
    result = Evaluator(checks=[some]).evaluate(run(answer="a"), case)
    (found,) = result.layers["path"].checks
    assert (found.name, found.severity, found.message) == ("short_path", Severity.FAIL, "too long")


def test_a_function_in_a_spec_belongs_to_the_block_that_names_it(tmp_path):
    (tmp_path / "my_functions.py").write_text(MODULE)
    (tmp_path / "s.yaml").write_text(SPEC)
    (case,) = load_suite(tmp_path / "s.yaml").cases
    result = evaluate(case, run(Step.tool_call("x"), Step.tool_call("y"), answer="please"))
    correctness, path = result.layers["correctness"].checks, result.layers["path"].checks
    assert [(one.name, one.status) for one in correctness] == [("my_functions:polite", PASS)]
    assert {(one.name, one.severity) for one in path} == {
        ("my_functions:few", Severity.FAIL),
        ("any_of", Severity.WARN),
    }
    assert {one.status for one in path} == {FAIL}
    assert evaluate(case, run(answer="please")).status.value == "pass"


def test_false_switches_it_off():
    block = {f"{__name__}:polite": False, "exact_match": "a"}
    case = EvalCase.from_dict({"query": "question", "correctness": block})
    assert [one.name for _, one in evaluate(case, run(answer="a")).checks()] == ["exact_match"]
    block = {f"{__name__}:polite": True}
    assert first("correctness", block, run(answer="no")).message == "does not say please"


def takes_text(text):
    return True


def takes_nothing():
    return True


not_a_check = 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("takes_text", "`text` is not one of answer, output"),
        ("takes_nothing", "takes nothing of the run"),
        ("not_a_check", "not a check"),
        ("missing", "has no 'missing'"),
    ],
)
def test_functions_that_cannot_be_checks_are_spec_errors(name, said):
    with pytest.raises(SpecError, match=said):
        EvalCase.from_dict({"query": "q", "correctness": {f"{__name__}:{name}": True}})
    with pytest.raises(UsageError, match="cannot be a check"):
        Evaluator(checks=[takes_text])


def test_a_value_other_than_true_or_false_is_a_spec_error():
    with pytest.raises(SpecError, match="true or false"):
        EvalCase.from_dict({"query": "q", "correctness": {f"{__name__}:polite": 3}})


def test_a_structured_answer_is_given_as_it_is():
    case = EvalCase.from_dict({"query": "q", "correctness": {"json_schema": {"type": "object"}}})
    evaluator = Evaluator(checks=[lambda answer: answer == {"days": 30}])
    assert evaluator.evaluate(run(answer={"days": 30}), case).status.value == "pass"
