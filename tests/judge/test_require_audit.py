"""`require_audit`: a judge that is not audited gives no verdict, however it is called."""

from __future__ import annotations

import json

import pytest

from tests.judge.servers import score
from trialrun import EvalCase, Trace, evaluate
from trialrun.judge import Judge
from trialrun.model.case import JudgeSettings
from trialrun.model.results import CheckStatus

PASS, UNKNOWN = CheckStatus.PASS, CheckStatus.UNKNOWN


def judged(judge, **rubric):
    written = {"safety_check": {"rule": "r", **rubric}}
    case = EvalCase.from_dict({"query": "q", "correctness": written})
    ((_, check),) = evaluate(case, Trace(input="q", output="a"), judge=judge).checks()
    return check.status, check.message


def block(server, **given):
    return JudgeSettings(base_url=f"{server.url}/v1", timeout=60, require_audit=True, **given)


def audit_of(tmp_path, judge, verdict="trustworthy"):
    file = tmp_path / "judge-audit.json"
    file.write_text(json.dumps({"identity": judge.identity(), "verdict": verdict}))
    return file


def test_a_judge_made_in_code_without_an_audit_is_not_asked(serve):
    server = serve(score(5))
    status, message = judged(Judge(block(server, model="m")))
    assert (status, server.asked) == (UNKNOWN, [])
    assert message == "the judge is not audited: no audit was given with it"


def test_a_judge_made_in_code_uses_its_audit_file(serve, tmp_path):
    server = serve(score(5))
    file = audit_of(tmp_path, Judge(block(server, model="m")))
    assert judged(Judge(block(server, model="m"), audit=file))[0] is PASS
    assert judged(Judge(block(server, model="m"), audit=str(file)))[0] is PASS
    status, message = judged(Judge(block(server, model="other"), audit=file))
    assert (status, "is about m at" in message, len(server.asked)) == (UNKNOWN, True, 2)
    audit_of(tmp_path, Judge(block(server, model="m")), "unreliable")
    status, message = judged(Judge(block(server, model="m"), audit=file))
    assert (status, message.endswith("says: unreliable")) == (UNKNOWN, True)
    status, message = judged(Judge(block(server, model="m"), audit=tmp_path / "none.json"))
    assert (status, "none.json does not exist" in message) == (UNKNOWN, True)


@pytest.mark.parametrize("models", [["x", "y", "lenient"], ["lenient", "lenient"]])
def test_one_member_of_an_audited_ensemble_is_not_audited(serve, tmp_path, models):
    server = serve(score(5))
    file = audit_of(tmp_path, Judge(block(server, models=models)))
    status, message = judged(Judge(block(server, models=models), audit=file), model="lenient")
    assert (status, server.asked) == (UNKNOWN, [])
    assert message == "the judge of this rubric, lenient, is not audited"
    assert judged(Judge(block(server, models=models), audit=file))[0] is PASS


@pytest.mark.parametrize("given", [{"model": "m"}, {"models": ["m"]}])
def test_a_rubric_may_name_the_audited_judge(serve, tmp_path, given):
    server = serve(score(5))
    file = audit_of(tmp_path, Judge(block(server, **given)))
    assert judged(Judge(block(server, **given), audit=file), model="m")[0] is PASS


def test_a_block_without_a_model_gets_no_advice_to_audit():
    status, message = judged(Judge(JudgeSettings(require_audit=True)))
    assert (status, message) == (UNKNOWN, "the judge has no model: set `model` in its block")
