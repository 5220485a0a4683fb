"""The examples of evaldeck's page "Adding Metrics" run with only the package name changed."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from trialrun import EvalCase, EvaluationResult, Evaluator, Step, TokenUsage, Trace
from trialrun.metrics import BaseMetric, StepCountMetric, TokenUsageMetric
from trialrun.model.results import MetricResult

EXAMPLES = Path(__file__).parent / "data" / "metrics_examples"
CASE = EvalCase.from_dict({"query": "q", "path": {"max_steps": 10}})


def run(name, **names):
    """Execute one example; `names` are the imports that the page omits."""
    text = (EXAMPLES / f"{name}.py.txt").read_text(encoding="utf-8")
    space = {
        "BaseMetric": BaseMetric,
        "MetricResult": MetricResult,
        "Trace": Trace,
        "EvalCase": EvalCase,
        "mock_test_case": CASE,
        **names,
    }
    exec(compile(text.replace("evaldeck", "trialrun"), name, "exec"), space)  # noqa: S102
    return space


def two_calls():
    return Trace(
        input="q",
        output="a",
        steps=[
            Step.llm_call("gpt-4o-mini", "i", "o", TokenUsage(1_000_000, 500_000)),
            Step.llm_call("GPT-4o-2024", "i", "o", TokenUsage(1_000_000, 100_000)),
        ],
    )


def test_the_interface_example():
    base = run("interface")["BaseMetric"]
    with pytest.raises(TypeError):
        base()


def test_the_example_metric_passes_the_example_tests():
    metric = run("average_step_duration")["AverageStepDurationMetric"]
    tests = run("test_average_step_duration")["TestAverageStepDurationMetric"]
    suite = tests()
    names = [name for name in dir(suite) if name.startswith("test_")]
    assert len(names) == 3
    for name in names:  # with our built-in metric, which the page imports
        getattr(suite, name)()
    for name in names:  # with the class defined on the page
        getattr(tests, name).__globals__["AverageStepDurationMetric"] = metric
        getattr(suite, name)()


def test_average_step_duration_equals_the_example():
    theirs = run("average_step_duration")["AverageStepDurationMetric"]()
    ours = sys.modules["trialrun.metrics"].AverageStepDurationMetric()
    trace = Trace(input="q")
    for milliseconds in (100, 33, 1):
        trace.add_step(Step.tool_call("a", {}, {}, duration_ms=milliseconds))
    assert ours.calculate(trace, CASE) == theirs.calculate(trace, CASE)
    assert ours.calculate(trace, CASE).value == 44.67


def test_the_example_of_a_result():
    result = MetricResult(metric_name="m", value=42.5, unit="ms", details={"extra": "info"})
    assert (result.metric_name, result.value, result.unit) == ("m", 42.5, "ms")
    assert result.details == {"extra": "info"}
    assert run("metric_result")


def test_the_example_token_cost_runs_on_our_traces():
    metric = run("token_cost")["TokenCostMetric"]()
    result = metric.calculate(two_calls(), CASE)
    # The example uses the first name that the model contains: both calls are priced as gpt-4o.
    assert result.value == pytest.approx(5.0 + 7.5 + 5.0 + 1.5)
    assert set(result.details) == {"1", "2"}


def test_our_token_cost_uses_the_longest_matching_name():
    page = run("token_cost")["TokenCostMetric"]
    ours = sys.modules["trialrun.metrics"].TokenCostMetric

    class WithExamplePrices(ours):
        PRICES = page.PRICES

    result = WithExamplePrices().calculate(two_calls(), CASE)
    assert result.value == pytest.approx(0.15 + 0.30 + 5.0 + 1.5)
    assert result.details["1"]["cost"] == 0.45
    assert result.unit == "USD"


def test_retry_rate_equals_the_example():
    theirs = run("retry_rate")["RetryRateMetric"]()
    ours = sys.modules["trialrun.metrics"].RetryRateMetric()
    for tools in ([], ["a"], ["a", "a", "b"], ["a", "b", "a", "b", "c", "a"]):
        trace = Trace(input="q", steps=[Step.tool_call(tool) for tool in tools])
        assert ours.calculate(trace, CASE) == theirs.calculate(trace, CASE)
    assert ours.calculate(trace, CASE).value == 0.5


def test_reasoning_depth_equals_the_example():
    theirs = run("reasoning_depth")["ReasoningDepthMetric"]()
    ours = sys.modules["trialrun.metrics"].ReasoningDepthMetric()
    for texts in ([], ["hm"], ["first", "then"]):
        trace = Trace(input="q", steps=[Step.reasoning(text) for text in texts])
        assert ours.calculate(trace, CASE) == theirs.calculate(trace, CASE)
    assert ours.calculate(trace, CASE).details["avg_characters"] == 4.5


def test_metrics_are_added_programmatically(capsys, monkeypatch):
    module = types.ModuleType("my_metrics")
    module.TokenCostMetric = run("token_cost")["TokenCostMetric"]
    module.RetryRateMetric = run("retry_rate")["RetryRateMetric"]
    monkeypatch.setitem(sys.modules, "my_metrics", module)
    space = run("programmatically", trace=two_calls(), test_case=CASE)
    assert type(space["result"]) is EvaluationResult
    printed = capsys.readouterr().out.splitlines()
    assert printed == [
        "step_count: 2.0 steps",
        "token_usage: 2600000.0 tokens",
        "tool_call_count: 0.0 calls",
        "duration: None ms",
        "token_cost: 19.0 USD",
        "retry_rate: 0.0 ",
    ]


def test_metrics_are_given_to_the_constructor():
    space = run(
        "in_constructor",
        Evaluator=Evaluator,
        StepCountMetric=StepCountMetric,
        TokenUsageMetric=TokenUsageMetric,
        TokenCostMetric=run("token_cost")["TokenCostMetric"],
        RetryRateMetric=run("retry_rate")["RetryRateMetric"],
    )
    result = space["evaluator"].evaluate(two_calls(), CASE)
    names = [metric.metric_name for metric in result.metrics]
    assert names == ["step_count", "token_usage", "token_cost", "retry_rate"]


def test_every_example_is_run():
    source = Path(__file__).read_text(encoding="utf-8")
    for file in EXAMPLES.glob("*.txt"):
        name = file.name.removesuffix(".py.txt")
        if name != "export":  # an excerpt with an ellipsis: only its import can be tested
            assert f'run("{name}"' in source or f'"{name}",' in source, name
    assert hasattr(sys.modules["trialrun.metrics"], "AverageStepDurationMetric")
