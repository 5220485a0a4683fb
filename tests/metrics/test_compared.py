"""The metrics that compare a run's calls with those that the case names."""

from __future__ import annotations

import pytest

from tests.helpers import measured, measured_with_baseline, run
from trialrun import EvalCase, evaluate
from trialrun.metrics import (
    SequenceEditMetric,
    SequenceLcsMetric,
    ToolF1Metric,
    ToolPrecisionMetric,
    ToolRecallMetric,
)

TOOLS = [ToolRecallMetric(), ToolPrecisionMetric(), ToolF1Metric()]
ORDERS = [SequenceLcsMetric(), SequenceEditMetric()]
RECALL, PRECISION, F1 = TOOLS
LCS, EDIT = ORDERS


def name_of(metric):
    return metric.name


@pytest.mark.parametrize(
    ("metric", "expected", "used", "value"),
    [
        (RECALL, "ab", "ba", 1.0),
        (RECALL, "ab", "aac", 0.5),
        (RECALL, "abc", "ab", 2 / 3),
        (RECALL, "ab", "", 0.0),
        (RECALL, "", "a", 1.0),
        (PRECISION, "ab", "ba", 1.0),
        (PRECISION, "a", "aab", 0.5),
        (PRECISION, "ab", "abc", 2 / 3),
        (PRECISION, "ab", "", 0.0),
        (PRECISION, "", "", 1.0),
        (PRECISION, "", "a", 0.0),
        (F1, "ab", "ba", 1.0),
        (F1, "ab", "bc", 0.5),
        (F1, "abc", "ab", 0.8),
        (F1, "ab", "", 0.0),
        (F1, "", "", 1.0),
    ],
)
def test_metrics_of_tools(metric, expected, used, value):
    result = measured(metric, run(*used), path={"expected_tools": list(expected)})
    assert (result.value, result.unit) == (value, "ratio")


@pytest.mark.parametrize("metric", TOOLS, ids=name_of)
def test_the_expected_block_names_tools_too(metric):
    result = measured(metric, run("a", "c"), expected={"tools_called": ["a", "b"]})
    assert result.value == 0.5


@pytest.mark.parametrize("metric", TOOLS, ids=name_of)
@pytest.mark.parametrize("case", [{}, {"path": {"max_steps": 1}}], ids=["nothing", "no tools"])
def test_without_expected_tools_it_is_undefined(metric, case):
    result = measured(metric, run("a"), **case)
    assert result.value is None
    assert "expected_tools" in result.details["message"]


@pytest.mark.parametrize(
    ("metric", "reference", "tools", "value"),
    [
        (LCS, "ac", "abc", 0.8),
        (LCS, "ab", "ba", 0.5),
        (LCS, "ab", "", 0.0),
        (LCS, "", "", 1.0),
        (LCS, "ab", "ab", 1.0),
        (EDIT, "ac", "abc", 1 - 1 / 3),
        (EDIT, "ab", "ba", 0.0),
        (EDIT, "ab", "", 0.0),
        (EDIT, "", "", 1.0),
        (EDIT, "ab", "ab", 1.0),
    ],
)
def test_metrics_of_order(metric, reference, tools, value):
    result = measured(metric, run(*tools), reference_tools=list(reference))
    assert (result.value, result.unit) == (value, "ratio")


@pytest.mark.parametrize("metric", ORDERS, ids=name_of)
def test_without_a_reference_it_is_undefined(metric):
    assert measured(metric, run("a")).value is None
    assert measured(metric, run("a"), path={"max_steps": 1}).value is None


@pytest.mark.parametrize("metric", ORDERS, ids=name_of)
def test_the_baseline_is_the_reference_unless_the_case_has_one(metric):
    calls = run("a", "b")
    assert measured_with_baseline(run("a", "b"), metric, calls).value == 1.0
    assert measured_with_baseline(run("x"), metric, calls, reference_tools=["a", "b"]).value == 1.0


@pytest.mark.parametrize("metric", ORDERS, ids=name_of)
def test_a_baseline_without_recorded_calls_is_not_a_reference(metric):
    assert measured_with_baseline(run(without=["tool_calls"]), metric, run("a")).value is None


@pytest.mark.parametrize("metric", TOOLS + ORDERS, ids=name_of)
def test_it_is_undefined_if_calls_were_not_recorded(metric):
    silent = run(without=["tool_calls"])
    case = {"path": {"expected_tools": ["a"]}, "reference_tools": ["a"]}
    asked = EvalCase.from_dict({"query": "question", **case})
    (result,) = evaluate(asked, silent, metrics=[metric]).metrics
    assert (result.value, "tool_calls" in result.details["message"]) == (None, True)
    assert measured(metric, silent, **case).value is not None  # the formula
