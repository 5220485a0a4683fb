from __future__ import annotations

from tests.helpers import measured, run
from trialrun import Step
from trialrun.metrics import StepCountMetric

METRIC = StepCountMetric()


def test_steps_of_every_type_count():
    steps = [Step.llm_call("m"), Step.tool_call("a"), Step.reasoning("hm"), Step.handoff("b")]
    result = measured(METRIC, run(*steps))
    assert (result.value, result.unit, result.details) == (4, "steps", {})


def test_without_steps_it_is_0():
    assert measured(METRIC, run()).value == 0
