"""`baseline save`: which attempts are taken, from one run or several, and what is said of them."""

from __future__ import annotations

import pytest

from tests.engine.refunds import begin, case, does, saved
from tests.store.samples import attempt
from trialrun.engine.baseline_saving import is_sound
from trialrun.model.results import (
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    LayerStatus,
    Severity,
)
from trialrun.model.trace import Trace

GATE = {"same_calls": True, "same_arguments": True}


def test_several_runs_become_one_baseline(project):
    begin(project, varies=True)
    project.run()
    done = project.command("baseline", "save", "latest~1", "latest")
    assert done.code == 0
    file = saved(project)
    assert len(file["repeats"]) == 1
    assert file["regression"]["arguments"]["lookup_order"]["wording"] == "same_type"
    assert "may vary, by a rule in the file: lookup_order.wording same_type" in done.err


def test_the_same_run_twice_counts_once(project):
    begin(project)
    done = project.command("baseline", "save", "latest", "latest")
    assert (done.code, "repeats" in saved(project)) == (0, False)
    assert "saved from one attempt: `run --repeat 5` shows which arguments may vary" in done.err


def test_runs_of_other_specs_and_questions_are_refused(project):
    begin(project)
    project.spec(case() | {"query": "Refund order 13."})
    project.run()
    refused = project.command("baseline", "save", "latest~1", "latest")
    assert (refused.code, "different questions" in refused.err) == (2, True)
    project.spec(case(), name="other.yaml")
    project.run(spec="other.yaml")
    refused = project.command("baseline", "save", "latest~1", "latest")
    assert (refused.code, "different specs" in refused.err) == (2, True)
    assert not list((project.folder / "baselines").rglob("*.json"))


def test_a_case_that_names_its_baseline_is_saved_there(project):
    begin(project)
    project.spec(case(baseline="kept.json", regression=GATE))
    assert project.command("baseline", "save").code == 0
    assert (project.folder / "kept.json").exists()
    assert not list((project.folder / "baselines").rglob("*.json"))
    assert project.run().code == 0
    project.command("baseline", "save", "--folder", "elsewhere")
    assert [file.name for file in project.folder.glob("elsewhere/*/*")] == ["refund.json"]


def test_free_texts_and_masked_arguments_are_listed(project):
    begin(project, key="sk-proj-Ab3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2dE3fG4hI5jK6")
    done = project.command("baseline", "save")
    assert "free texts, compared only by type: lookup_order.wording" in done.err
    assert "not compared, because they are masked: issue_refund.api_key" in done.err
    file = saved(project)
    assert file["regression"]["arguments"]["issue_refund"]["api_key"] == "ignore"
    (refund,) = [step for step in file["steps"] if step.get("tool_name") == "issue_refund"]
    assert refund["tool_args"]["api_key"] == "[redacted]"  # and no digest of it
    # Another key is not a regression.
    does(project, key="sk-proj-zzzzE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2dE3fG4hI5jK6")
    assert project.run().code == 0
    does(project, key="sk-proj-zzzzE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2dE3fG4hI5jK6", amount=200)
    assert project.run().code == 1


def test_failed_calls_are_refused_and_named(project):
    begin(project, fails=True)
    refused = project.command("baseline", "save")
    assert refused.code == 5
    assert (
        'left out, because a call failed: refund: issue_refund failed: "the bank is closed"'
        in refused.err
    )
    assert "--allow-errors" in refused.err
    assert "did not pass" not in refused.err
    assert project.command("baseline", "save", "--allow-errors").code == 0
    assert project.run().code == 0


def test_only_the_attempts_with_failed_calls_are_left_out(project):
    begin(project, repeat=3, fails=2)
    done = project.command("baseline", "save")
    assert (done.code, "issue_refund failed" in done.err) == (0, True)
    assert len(saved(project)["repeats"]) == 1


def test_a_call_that_was_retried_with_success_did_not_fail(project):
    begin(project, retries=True)
    done = project.command("baseline", "save")
    assert (done.code, "failed" in done.err) == (0, False)


def test_a_call_that_was_retried_with_another_id_did_not_fail_either(project):
    """Several attempts show that the id varies; else only those without a retry would be saved."""
    begin(project, repeat=3, retries=True, ids=True)
    done = project.command("baseline", "save")
    assert (done.code, "failed" in done.err) == (0, False)
    assert len(saved(project)["repeats"]) == 2
    assert saved(project)["regression"]["arguments"]["issue_refund"]["id"] == "same_type"
    assert project.run().code == 0
    # One attempt does not show it, but the rule in the file does.
    assert project.command("baseline", "save").code == 0
    assert project.command("accept", "refund").code == 0


def test_a_later_call_that_fails_too_is_not_a_retry_with_success(project):
    begin(project, repeat=3, retries=True, ids=True, fails=True)
    refused = project.command("baseline", "save")
    assert (refused.code, "issue_refund failed" in refused.err) == (5, True)


def test_a_changed_behaviour_with_a_right_answer_is_saved(project):
    begin(project)
    project.command("baseline", "save")
    does(project, amount=200)
    assert project.run().code == 1
    assert "1 baseline written" in project.command("baseline", "save").err


def test_a_wrong_answer_is_not_saved(project):
    begin(project, answer="no")
    refused = project.command("baseline", "save")
    assert (refused.code, "because they did not pass: refund" in refused.err) == (5, True)


def test_a_case_without_other_checks_is_saved_the_first_time(project):
    only = case(regression=GATE)
    del only["correctness"]
    assert begin(project, only).statuses == ["error"]
    assert project.command("baseline", "save").code == 0
    assert project.run().statuses == ["pass"]
    does(project, amount=200)
    assert project.run().statuses == ["fail"]
    refused = project.command("baseline", "save")  # that would hide the only failure
    assert (refused.code, "did not pass" in refused.err) == (5, True)
    assert project.command("accept").code == 0


def test_an_agent_that_reports_an_error_is_not_saved(project):
    only = case(regression=GATE)
    del only["correctness"]
    project.agent("def run(question):\n    return {'output': 'a', 'error': 'late', 'steps': []}")
    project.spec(only)
    project.run()
    assert project.command("baseline", "save").code == 5


# `is_sound`


def result_of(*checks):
    layers = {}
    for layer, name, status, severity in checks:
        found = CheckResult(name, CheckStatus(status), Severity(severity))
        layers[layer] = LayerResult(LayerStatus.FAIL, (found,))
    return EvaluationResult(case_name="c", status=LayerStatus.FAIL, layers=layers, metrics=[])


BROKEN = ("regression", "same_calls", "fail", "fail")
PASSED = ("correctness", "exact_match", "pass", "fail")


@pytest.mark.parametrize(
    ("checks", "taken", "taken_first"),
    [
        ([PASSED, BROKEN], True, True),
        ([BROKEN], False, True),
        ([("regression", "same_calls", "unknown", "fail"), PASSED], True, True),
        ([("cost", "max_cost_multiplier", "fail", "fail"), PASSED], True, True),
        ([("correctness", "exact_match", "fail", "fail"), BROKEN], False, False),
        ([("correctness", "exact_match", "unknown", "fail"), BROKEN], False, False),
        ([("path", "max_steps", "fail", "warn"), BROKEN], True, True),
        ([("path", "max_steps", "unknown", "warn"), BROKEN], False, True),  # nothing is decided
        ([("correctness", "exact_match", "fail", "fail")], False, False),
        ([], False, False),
    ],
)
def test_what_counts_as_passed(checks, taken, taken_first):
    made = attempt(1)
    made.result, made.trace = result_of(*checks), Trace(input="q", output="a", steps=[])
    assert is_sound(made, takes_unchecked=False) is taken
    assert is_sound(made, takes_unchecked=True) is taken_first
    made.trace = Trace(input="q", output="a", error="late", steps=[])
    assert not is_sound(made)


def test_fewer_attempts_keep_the_rules_of_more(project):
    """One attempt cannot show what varies: the next run of the same agent must not be red."""
    begin(project, case(regression=GATE), repeat=3, varies=True)
    assert project.command("baseline", "save").code == 0
    project.run()
    assert project.command("baseline", "save").code == 0
    assert saved(project)["regression"]["arguments"]["lookup_order"]["wording"] == "same_type"
    assert project.run().code == 0


def test_a_baseline_that_is_replaced_is_shown_with_what_differs(project):
    begin(project)
    project.command("baseline", "save")
    does(project, amount=200)
    project.run()
    done = project.command("baseline", "save")
    assert done.code == 0
    assert "  not as in the baseline before: issue_refund: amount 20 → 200" in done.err


def test_in_ci_no_baseline_is_replaced(project, monkeypatch):
    begin(project)
    monkeypatch.setenv("CI", "true")
    assert project.command("baseline", "save").code == 0  # the first one
    does(project, amount=200)
    project.run()
    done = project.command("baseline", "save")
    assert done.code == 5
    assert "not replaced in CI, where nothing is accepted: refund" in done.err
    assert saved(project)["steps"][3]["tool_args"]["amount"] == 20
