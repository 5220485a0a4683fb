"""Numbers, texts and other values of programs as plain values."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import nan

import numpy as np
import pytest

from trialrun import EvalCase, MetricResult, Step, TokenUsage, Trace, evaluate
from trialrun.agents.base import Failure
from trialrun.agents.running.answers import from_returned
from trialrun.metrics import BaseMetric
from trialrun.util.plain import as_number, convert


class Text(str):
    """As LangChain's texts, which are a subclass of str."""

    __slots__ = ()


NUMBERS = [
    (np.float64(1.5), 1.5),
    (np.float32(1.5), 1.5),
    (np.int64(3), 3),
    (np.uint8(3), 3),
    (Fraction(3, 2), 1.5),
    (Decimal("1.5"), 1.5),
]


@pytest.mark.parametrize(("given", "plain"), NUMBERS)
def test_numbers_of_every_kind(given, plain):
    found = as_number(given)
    assert (found, type(found)) == (plain, type(plain))
    assert convert({"a": [given]})[0] == {"a": [plain]}
    assert type(convert({"a": [given]})[0]["a"][0]) is type(plain)


def test_what_is_not_a_number():
    for value in (True, np.bool_(True), "3", None, 1j, np.array([1, 2])):
        assert as_number(value) is None


@pytest.mark.parametrize(("given", "plain"), NUMBERS)
def test_constructors_take_every_number(given, plain):
    step = Step.llm_call("m", cost_usd=given, duration_ms=given)
    assert (step.cost_usd, step.duration_ms) == (plain, plain)
    assert type(step.cost_usd) is type(plain)
    assert Trace(input="q", duration_ms=given).duration_ms == plain
    assert Trace(input="q", output={"a": given}).output == {"a": plain}


def test_counts_are_whole_numbers_of_every_kind():
    usage = TokenUsage(prompt_tokens=np.int64(3), completion_tokens=np.uint8(4))
    assert usage == TokenUsage(3, 4)
    assert type(usage.prompt_tokens) is int and usage.total_tokens == 7
    for bad in (np.float64(nan), np.int64(-1), Decimal("NaN"), np.float64(1.5)):
        with pytest.raises(ValueError, match="prompt_tokens"):
            TokenUsage(prompt_tokens=bad)


@pytest.mark.parametrize("bad", [np.float64(nan), np.float64("inf"), np.int64(-1), Decimal("-1")])
def test_impossible_numbers_of_every_kind_are_refused(bad):
    with pytest.raises(ValueError, match="cost_usd"):
        Step.llm_call("m", cost_usd=bad)


def test_subclasses_of_str_are_texts():
    trace = Trace(input=Text("q"), output=Text("a"), steps=[Step.reasoning(Text("hm"))])
    assert type(trace.output) is str and type(trace.steps[0].reasoning_text) is str
    steps = [{"type": "tool_call", "tool_name": Text("a"), "tool_result": {"x": Text("y")}}]
    assert from_returned({"output": Text("a"), "steps": steps}) == {"output": "a", "steps": steps}
    assert from_returned(Text("a")) == {"output": "a"}


def test_values_of_a_function_agent_become_plain():
    steps = [{"type": "tool_call", "tool_name": "a", "tool_args": {"n": np.int64(2)}}]
    steps[0] |= {"tool_result": [np.float32(0.5), np.bool_(True), Decimal("2.5")]}
    found = from_returned({"output": {"score": np.float64(0.25)}, "steps": steps})
    assert found["output"] == {"score": 0.25}
    assert found["steps"][0]["tool_args"] == {"n": 2}
    assert found["steps"][0]["tool_result"] == [0.5, True, 2.5]
    trace = Trace(input="q", output="a", steps=[Step.tool_call("a", {"n": np.int64(2)})])
    assert from_returned(trace)["steps"][0]["tool_args"] == {"n": 2}
    assert b'"n":2' in trace.to_json()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"output": "a", "steps": [{"tool_result": object()}]}, "steps[0].tool_result: it holds"),
        ({"output": {"a": [1, {1, object()}]}}, "output.a[1]: it holds an object"),
        ({"output": "a", "metadata": {(1, 2): 3}}, "metadata: Only dicts"),
        (
            Trace(input="q", output="a", steps=[Step.tool_call("t", {"x": np.array([1])})]),
            "steps[0].tool_args.x: it holds a ndarray",
        ),
    ],
)
def test_a_value_that_is_not_json_is_named_with_its_place(value, message):
    found = from_returned(value)
    assert isinstance(found, Failure)
    assert message in found.message


def test_a_value_that_holds_itself_is_refused():
    value = {"output": "a"}
    value["metadata"] = value
    assert "nested too deeply, or holds itself" in from_returned(value).message


def measured(value):
    class Mine(BaseMetric):
        name = "mine"

        def calculate(self, trace, test_case=None):
            return MetricResult(metric_name="mine", value=value)

    case = EvalCase.from_dict({"query": "q", "correctness": {"exact_match": "a"}})
    (result,) = evaluate(case, Trace(input="q", output="a"), metrics=[Mine()]).metrics
    return result


@pytest.mark.parametrize(("given", "plain"), [*NUMBERS, (np.mean([100.0]), 100.0)])
def test_a_metric_may_return_every_kind_of_number(given, plain):
    result = measured(given)
    assert (result.value, result.error) == (plain, None)
    assert type(result.value) is type(plain)


@pytest.mark.parametrize("bad", [np.float64(nan), Decimal("Infinity"), True, "3", 10**400])
def test_other_values_of_a_metric_are_errors(bad):
    assert measured(bad).value is None
    assert "not a number" in measured(bad).error
