"""Judged checks without a configured judge: they never pass or fail."""

from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, SKIPPED, UNKNOWN, judge, outcome, refusal, said
from trialrun import EvalCase, JudgeRequest, Trace, evaluate
from trialrun.engine.rubrics import why_not_judgeable
from trialrun.model.case import Rubric

RUBRIC = {"rule": "the answer is polite"}
JUDGED = {
    "llm_judge": [RUBRIC],
    "safety_check": RUBRIC,
    "hallucination_check": RUBRIC,
    "refutes_premise": True,
}
TEXT_CHECKS = {
    "expected_in_answer": ["absent"],
    "any_expected_in_answer": ["absent"],
    "not_in_answer": ["yes"],
    "exact_match": "absent",
    "regex_match": "absent",
}
each = pytest.mark.parametrize(("name", "value"), JUDGED.items(), ids=JUDGED)


@each
def test_without_a_judge_the_check_is_unknown_and_the_layer_an_error(name, value):
    result = outcome("correctness", {name: value}, said("yes"))
    (check,) = result.layers["correctness"].checks
    assert (check.name, check.status, check.severity) == (name, "unknown", "fail")
    assert "no judge configured" in check.message
    assert (result.layers["correctness"].status, result.status) == ("error", "error")


@each
def test_with_severity_warn_it_only_warns(name, value):
    block = {name: {"value": value, "severity": "warn"}}
    assert outcome("correctness", block, said("yes")).layers["correctness"].status == "warn"


@pytest.mark.parametrize("name", ["llm_judge", "safety_check", "hallucination_check"])
def test_it_is_skipped_with_a_message_if_a_free_check_failed(name):
    block = {name: JUDGED[name], "exact_match": "no"}
    result = outcome("correctness", block, said("yes"))
    found = {check.name: check for check in result.layers["correctness"].checks}
    assert found["exact_match"].status is FAIL
    assert found[name].status is SKIPPED
    assert "failed" in found[name].message
    assert result.layers["correctness"].status == "fail"


def test_a_free_check_that_only_warns_does_not_skip_the_judge():
    block = {"exact_match": {"value": "no", "severity": "warn"}, "llm_judge": [RUBRIC]}
    assert judge("correctness", block, said("yes"))["llm_judge"].status is UNKNOWN  # no judge here


def test_a_failed_check_of_the_expected_block_skips_it():
    found = judge(
        "correctness", {"llm_judge": [RUBRIC]}, said("yes"), expected={"output_contains": ["no"]}
    )
    assert found["output_contains"].status is FAIL
    assert found["llm_judge"].status is SKIPPED


def test_an_unknown_free_check_does_not_skip_it():
    block = {"regex_match": "(a|aa)+$", "llm_judge": [RUBRIC]}
    found = judge("correctness", block, said("a" * 60 + "!"))
    assert found["regex_match"].status is UNKNOWN
    assert found["llm_judge"].status is UNKNOWN


def test_a_failed_check_of_another_layer_does_not_skip_it():
    found = judge(
        "correctness", {"llm_judge": [RUBRIC]}, said("yes"), path={"expected_tools": ["search"]}
    )
    assert found["llm_judge"].status is UNKNOWN


def test_free_checks_come_first_and_judges_in_the_order_of_their_cost():
    block = {
        "hallucination_check": RUBRIC,
        "safety_check": RUBRIC,
        "llm_judge": [RUBRIC],
        "json_schema": True,
        "regex_match": "1",
        "exact_match": "1",
        "not_in_answer": ["2"],
        "expected_in_answer": ["1"],
    }
    assert list(judge("correctness", block, said("1"))) == list(reversed(block))


def test_refutes_premise_replaces_the_text_checks():
    block = {**TEXT_CHECKS, "refutes_premise": True}
    result = outcome("correctness", block, said("yes"))
    found = {check.name: check for check in result.layers["correctness"].checks}
    assert {found[name].status for name in TEXT_CHECKS} == {SKIPPED}
    assert {"refutes_premise" in found[name].message for name in TEXT_CHECKS} == {True}
    assert found["refutes_premise"].status is UNKNOWN
    assert result.layers["correctness"].status == "error"


def test_refutes_premise_replaces_the_text_checks_of_the_expected_block():
    found = judge(
        "correctness", {"refutes_premise": True}, said("yes"), expected={"output_contains": ["no"]}
    )
    assert found["output_contains"].status is SKIPPED
    assert found["refutes_premise"].status is UNKNOWN


def test_refutes_premise_false_switches_it_off():
    found = judge("correctness", {"refutes_premise": False, "exact_match": "yes"}, said("yes"))
    assert {name: check.status for name, check in found.items()} == {"exact_match": PASS}


@each
def test_a_run_without_an_answer_is_unknown(name, value):
    case = EvalCase.from_dict({"query": "question", "correctness": {name: value}})
    result = evaluate(case, Trace(input="question"))
    (check,) = result.layers["correctness"].checks
    assert check.status is UNKNOWN
    assert "no answer" in check.message
    assert result.status == "error"


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "0.5", True])
def test_a_threshold_outside_0_to_1_is_a_spec_error(threshold):
    rubric = {"rule": "polite", "threshold": threshold}
    assert "threshold" in refusal("correctness", {"safety_check": rubric})


@pytest.mark.parametrize("threshold", [0.3, 1, 1.0])
def test_thresholds_that_some_score_misses(threshold):
    rubric = {"rule": "polite", "threshold": threshold}
    found = judge("correctness", {"safety_check": rubric}, said("yes"))
    assert found["safety_check"].status is UNKNOWN


@pytest.mark.parametrize("rubric", [{}, {"threshold": 0.5}, {"rule": ""}, {"rule": "a", "x": 1}])
def test_a_rubric_without_a_rule_or_with_an_unknown_key_is_a_spec_error(rubric):
    assert "safety_check" in refusal("correctness", {"safety_check": rubric})


def test_an_empty_list_of_rubrics_is_a_spec_error():
    assert "llm_judge" in refusal("correctness", {"llm_judge": []})


def test_a_rubric_accepts_all_its_fields(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facts.md").write_text("30 days")
    rubric = {
        "rule": "every claim is traceable",
        "threshold": 0.8,
        "scale": ["5: every claim traceable", "1: none"],
        "few_shot_examples": ["The answer 'yes' scores 1."],
        "context_file": "facts.md",
        "model": "anthropic:some-model",
    }
    found = judge("correctness", {"llm_judge": [rubric]}, said("yes"))
    assert found["llm_judge"].status is UNKNOWN


@pytest.mark.parametrize("part", ["question", "answer"])
def test_a_judge_gets_no_text_of_any_length(part):
    request = {"question": "q", "answer": "a", part: "x" * 400_001}
    why = why_not_judgeable(JudgeRequest(rubric=Rubric(rule="r"), **request))
    assert why == f"the {part} has 400,001 characters; a judge gets at most 400,000"
    request[part] = "x" * 400_000
    assert why_not_judgeable(JudgeRequest(rubric=Rubric(rule="r"), **request)) is None
