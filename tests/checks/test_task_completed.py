from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, run
from trialrun import EvalCase, evaluate


def found(wanted, **trace):
    case = EvalCase.from_dict({"query": "question", "expected": {"task_completed": wanted}})
    (check,) = evaluate(case, run(**trace)).layers["correctness"].checks
    return check


def test_success_and_an_answer_complete_a_task():
    assert found(True, answer="done").status is PASS
    assert found(False, answer="done").status is FAIL


def test_an_empty_answer_does_not_complete_a_task():
    assert found(True, answer="").status is FAIL
    assert found(False, answer="").status is PASS


def test_a_failed_run_does_not_complete_a_task():
    assert found(True, answer="gave up", status="failure").status is FAIL
    assert found(False, answer="gave up", status="failure").status is PASS


@pytest.mark.parametrize("wanted", [True, False])
def test_it_has_severity_fail_and_keeps_its_name(wanted):
    check = found(wanted, answer="done")
    assert (check.name, check.severity) == ("task_completed", "fail")
