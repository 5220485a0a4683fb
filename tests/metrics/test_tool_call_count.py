from __future__ import annotations

from tests.helpers import measured, run, undefined
from trialrun import Step
from trialrun.metrics import ToolCallCountMetric

METRIC = ToolCallCountMetric()


def test_only_tool_calls_count_and_are_named_in_order():
    failed = Step.tool_call("rank", status="failure")
    result = measured(METRIC, run("search", Step.llm_call("m"), failed, "search"))
    assert (result.value, result.unit) == (3, "calls")
    assert result.details == {"tools": ["search", "rank", "search"]}


def test_without_calls_it_is_0():
    result = measured(METRIC, run(Step.llm_call("m")))
    assert (result.value, result.details) == (0, {"tools": []})


def test_it_is_undefined_if_calls_were_not_recorded():
    assert undefined(METRIC, "tool_calls")
