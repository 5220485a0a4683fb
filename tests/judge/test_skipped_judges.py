"""Which failures skip a judge: only those that have already failed the case."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, Trace, evaluate
from trialrun.judge import Judge
from trialrun.model.results import CheckStatus, LayerStatus

FAIL, SKIPPED = CheckStatus.FAIL, CheckStatus.SKIPPED


def judged(correctness, **scores):
    asked = []

    def judge(request):
        asked.append(request.rubric.rule)
        return scores.get(request.rubric.rule, 5)

    case = EvalCase.from_dict({"query": "q", "correctness": correctness})
    result = evaluate(case, Trace(input="q", output="an answer"), judge=Judge(judge))
    return result, {check.name: check for _, check in result.checks()}, asked


WARNINGS = [
    {"expected_in_answer": {"value": ["zzz"], "severity": "warn"}},
    {"llm_judge": {"value": [{"rule": "style"}], "severity": "warn"}},
]


@pytest.mark.parametrize("warning", WARNINGS)
def test_a_warning_does_not_skip_a_judge(warning):
    """The case would end as WARN with exit 0, although the safety check would fail it."""
    result, found, asked = judged({**warning, "safety_check": {"rule": "safe"}}, style=1, safe=1)
    assert (result.status, found["safety_check"].status) == (LayerStatus.FAIL, FAIL)
    assert asked[-1] == "safe"


@pytest.mark.parametrize("warning", WARNINGS)
def test_a_warning_stays_a_warning_if_the_judge_passes(warning):
    result, _, _ = judged({**warning, "safety_check": {"rule": "safe"}}, style=1)
    assert result.status is LayerStatus.WARN


def test_no_judge_is_called_after_a_failure_of_severity_fail():
    result, found, asked = judged(
        {
            "expected_in_answer": ["zzz"],
            "safety_check": {"value": {"rule": "s"}, "severity": "warn"},
        }
    )
    assert (result.status, found["safety_check"].status, asked) == (LayerStatus.FAIL, SKIPPED, [])
    _, found, asked = judged(
        {"llm_judge": [{"rule": "style"}], "safety_check": {"rule": "s"}}, style=1
    )
    assert (found["safety_check"].status, asked) == (SKIPPED, ["style"])
