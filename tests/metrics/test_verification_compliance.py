"""`verification_compliance` uses the settings of the case's `verification:` block."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, Step, Trace
from trialrun.metrics import VerificationComplianceMetric

PATCHED = Step.tool_call("frobnicate", {"path": "/app/tax.py"}, "ok")
RAN = Step.tool_call("Bash", {"command": "hamster run"}, "ALL GOOD")


def case(**verification):
    return EvalCase.from_dict(
        {"query": "q", "verification": {"min_compliance": 0.9, **verification}}
    )


@pytest.mark.parametrize(
    ("answer", "steps", "own"),
    [
        ("Done.", [PATCHED], {"tools": {"edits": ["frobnicate"]}}),
        (
            "Hamster happy.",
            [Step.tool_call("Bash", {"command": "ls"}, "a")],
            {"phrases": {"tests": ["hamster happy"]}},
        ),
    ],
)
def test_tools_and_phrases_of_the_spec(answer, steps, own):
    trace = Trace(input="q", output=answer, steps=steps)
    metric = VerificationComplianceMetric()
    assert metric.calculate(trace, case()).value == 1.0
    assert metric.calculate(trace, case(**own)).value < 0.9


def test_runners_of_the_spec():
    runner = {"name": "hamster", "kind": "test", "command": "hamster run", "passed": "ALL GOOD"}
    trace = Trace(input="q", output="All tests pass.", steps=[RAN])
    metric = VerificationComplianceMetric()

    def verdict(**own):
        return metric.calculate(trace, case(**own)).details["ledger"]["claims"][0]["verdict"]

    assert verdict() in ("not_checkable", "unsupported")
    assert verdict(runners=[runner]) == "verified"
    assert verdict(runners=[{**runner, "failed": "ALL GOOD"}]) == "contradicted"


def test_calls_without_recorded_results_have_no_verdict():
    trace = Trace(input="q", output="All tests pass.", steps=[RAN], recorded=frozenset())
    result = VerificationComplianceMetric().calculate(trace)
    assert result.value is None
    assert "not recorded" in result.details["reason"]
