"""A failed assertion shows why."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import trialrun
from trialrun import EvalCase, Trace, evaluate
from trialrun.model.results import Gate, RunResult

FAILING = EvalCase.from_dict(
    {"name": "refund", "query": "Refund?", "correctness": {"expected_in_answer": ["order number"]}}
)
WARNING = EvalCase.from_dict(
    {
        "name": "warned",
        "query": "q",
        "correctness": {"expected_in_answer": ["ok"]},
        "path": {"min_steps": 2},
    }
)
ANSWER = Trace(input="Refund?", output="It has been refunded.", steps=[])


def test_the_repr_is_short_and_has_the_reason():
    result = evaluate(FAILING, ANSWER)
    assert repr(result) == (
        "<EvaluationResult FAIL: correctness · expected_in_answer fail: "
        'not in the answer: "order number" (refund)>'
    )
    long = EvalCase.from_dict(
        {"query": "q", "correctness": {"expected_in_answer": ["x" * 300, "y\nz"]}}
    )
    assert len(repr(evaluate(long, ANSWER))) <= 200
    assert "\n" not in repr(evaluate(long, ANSWER))


def test_a_long_name_and_a_warning_do_not_hide_the_reason():
    case = EvalCase.from_dict(
        {
            "name": "n" * 300,
            "query": "q",
            "correctness": {
                "exact_match": {"value": "x" * 300, "severity": "warn"},
                "expected_in_answer": ["order number"],
            },
        }
    )
    result = evaluate(case, ANSWER)
    assert 'not in the answer: "order number"' in repr(result)[:200]
    assert len(repr(result)) <= 200 and repr(result).endswith("n…)>")


def test_the_repr_of_a_run_counts_and_has_the_first_reason():
    run = trialrun.run([WARNING, FAILING], lambda question: {"output": "ok", "steps": []})
    assert repr(run) == (
        "<RunResult 1 of 2 results did not pass: refund: FAIL: "
        'correctness · expected_in_answer fail: not in the answer: "order number">'
    )
    assert repr(RunResult(results=[], planned=0)) == "<RunResult nothing was run>"
    good = trialrun.run([WARNING], lambda question: {"output": "ok", "steps": []})
    assert repr(good) == "<RunResult 1 result, passed>"
    gate = Gate("min-pass-rate 90%", False, "1 of 4")
    gated = RunResult(results=list(good.results), planned=1, gates=[gate])
    assert repr(gated) == "<RunResult 1 result, not passed: min-pass-rate 90%: 1 of 4>"
    few = RunResult(results=list(good.results), planned=2)
    assert repr(few) == "<RunResult 1 result, not passed: 1 of 2 cases have a result>"


def test_the_repr_of_a_run_is_short():
    named = replace(FAILING, name="n" * 300)
    found = evaluate(named, ANSWER)
    found.error = "e\n" * 300
    text = repr(RunResult(results=[found], planned=1))
    assert len(text) <= 200 and "\n" not in text and "e e" in text


def test_a_failed_assertion_on_a_run_shows_the_reason(tmp_path):
    shown = pytest_output(
        tmp_path,
        "    run = trialrun.run([case] * 1, lambda question: 'no ' * 500)\n    assert run.passed\n",
    )
    assert "1 of 1 result did not pass: refund" in shown
    assert 'not in the answer: "order number"' in shown


def test_a_failed_assertion_shows_the_reason(pytester_result):
    assert 'not in the answer: "order number"' in pytester_result


@pytest.fixture
def pytester_result(tmp_path):
    return pytest_output(
        tmp_path,
        "    result = evaluate(case, Trace(input='q', output='no'))\n    assert result.passed\n",
    )


def pytest_output(tmp_path, lines):
    import subprocess
    import sys

    (tmp_path / "test_it.py").write_text(
        "import trialrun\nfrom trialrun import *\n"
        "def test_it():\n"
        "    case = EvalCase.from_dict({'name': 'refund', 'query': 'q',\n"
        "        'correctness': {'expected_in_answer': ['order number']}})\n" + lines
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout


def test_assert_passed_shows_case_and_reasons():
    with pytest.raises(AssertionError, match="refund: FAIL") as caught:
        evaluate(FAILING, ANSWER).assert_passed()
    assert 'expected_in_answer fail: not in the answer: "order number"' in str(caught.value)


def test_a_warning_passes_unless_strict():
    result = evaluate(WARNING, Trace(input="q", output="ok", steps=[]))
    assert result.status.value == "warn"
    result.assert_passed()
    with pytest.raises(AssertionError, match="path · min_steps warn"):
        result.assert_passed(strict=True)


def test_a_run_shows_every_case_that_did_not_pass():
    run = trialrun.run([FAILING, WARNING], lambda question: {"output": "ok", "steps": []})
    assert not run.passed
    with pytest.raises(AssertionError) as caught:
        run.assert_passed()
    assert str(caught.value).startswith("1 of 2 results did not pass\nrefund: FAIL")
    assert "warned" not in str(caught.value)
    with pytest.raises(AssertionError, match="warned: WARN"):
        run.assert_passed(strict=True)
    good = trialrun.run([WARNING], lambda question: {"output": "ok", "steps": []})
    good.assert_passed()
    assert good.passed


def test_a_gate_that_does_not_hold_is_shown():
    answers = iter(["order number", "no"])
    run = trialrun.run(FAILING, lambda q: next(answers), repeat=2, jobs=1, min_pass_rate=0.9)
    with pytest.raises(AssertionError, match="min-pass-rate 90%: 1 case passes in fewer"):
        run.assert_passed()
