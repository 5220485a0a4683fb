from __future__ import annotations

from tests.helpers import measured, run
from trialrun import Step
from trialrun.metrics import LLMCallCountMetric

METRIC = LLMCallCountMetric()


def test_only_model_calls_count():
    result = measured(METRIC, run(Step.llm_call("m"), "search", Step.llm_call("m")))
    assert (result.value, result.unit) == (2, "calls")


def test_without_calls_it_is_0():
    assert measured(METRIC, run("search")).value == 0
