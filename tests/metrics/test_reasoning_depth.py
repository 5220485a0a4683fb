from __future__ import annotations

from tests.helpers import measured, run, undefined
from trialrun import Step
from trialrun.metrics import ReasoningDepthMetric

METRIC = ReasoningDepthMetric()


def test_reasoning_steps_and_their_characters_are_counted():
    steps = [Step.reasoning("four"), Step.tool_call("a"), Step.reasoning("é"), Step.reasoning("12")]
    result = measured(METRIC, run(*steps))
    assert (result.value, result.unit) == (3, None)
    assert result.details == {
        "reasoning_step_count": 3,
        "total_characters": 7,
        "avg_characters": 2.3,
    }


def test_a_step_without_text_counts_with_no_characters():
    result = measured(METRIC, run(Step(type="reasoning"), Step.reasoning("ab")))
    assert (result.value, result.details["total_characters"]) == (2, 2)


def test_without_reasoning_it_is_0_with_a_message():
    result = measured(METRIC, run("search"))
    assert (result.value, result.details) == (0, {"message": "No reasoning steps"})


def test_it_is_undefined_if_reasoning_was_not_recorded():
    assert undefined(METRIC, "reasoning")
