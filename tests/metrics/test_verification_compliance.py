"""`verification_compliance` uses the settings of the case's `verification:` block."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, Step, Trace
from trialrun.metrics import VerificationComplianceMetric

PATCHED = Step.tool_call("frobnicate", {"doc": "handbook"}, "ok")
LOOKED = Step.tool_call("peek", {"doc": "handbook"}, "the text")
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
    assert metric.calculate(trace, case()).value < 0.9
    assert metric.calculate(trace, case(runners=[runner])).value == 1.0
