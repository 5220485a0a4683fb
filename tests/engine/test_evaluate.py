"""`evaluate`: how statuses fold, missing answers, crashes, metrics and conversations."""

from __future__ import annotations

import asyncio

import pytest

from trialrun import (
    EvalCase,
    Evaluator,
    LayerStatus,
    MetricResult,
    Step,
    TokenUsage,
    Trace,
    TraceStatus,
    evaluate,
    evaluate_async,
    registry,
)
from trialrun.metrics import BaseMetric
from trialrun.model.case import MetricPlan
from trialrun.model.results import (
    LAYERS,
    CheckResult,
    CheckStatus,
    Severity,
)
from trialrun.model.statuses import fold_checks, fold_layers

P, F, U, S = CheckStatus.PASS, CheckStatus.FAIL, CheckStatus.UNKNOWN, CheckStatus.SKIPPED
HARD, SOFT = Severity.FAIL, Severity.WARN


def case(**blocks):
    return EvalCase.from_dict({"query": "q", **blocks})


def answered(text="yes", *tools, **fields):
    return Trace(input="q", output=text, steps=[Step.tool_call(tool) for tool in tools], **fields)


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        ([], "skip"),
        ([(S, HARD)], "skip"),
        ([(S, HARD), (P, SOFT)], "pass"),
        ([(P, HARD), (F, SOFT)], "warn"),
        ([(P, HARD), (U, SOFT)], "warn"),
        ([(U, HARD), (F, SOFT)], "error"),
        ([(F, SOFT), (U, HARD)], "error"),
        ([(U, HARD), (F, HARD)], "fail"),
        ([(F, HARD), (U, HARD), (P, HARD)], "fail"),
        ([(P, HARD), (P, SOFT)], "pass"),
        ([(U, HARD), (U, SOFT), (P, HARD)], "error"),
        ([(F, SOFT), (P, HARD), (S, SOFT)], "warn"),
    ],
)
def test_how_checks_fold_into_a_layer(checks, status):
    results = [CheckResult("c", found, severity) for found, severity in checks]
    assert fold_checks(results).value == status


@pytest.mark.parametrize(
    ("layers", "status"),
    [
        (["skip", "skip"], "error"),
        ([], "error"),
        (["skip", "pass"], "pass"),
        (["pass", "warn"], "warn"),
        (["warn", "error", "pass"], "error"),
        (["error", "fail", "pass"], "fail"),
    ],
)
def test_how_layers_fold_into_a_case(layers, status):
    assert fold_layers([LayerStatus(layer) for layer in layers]).value == status


def test_a_result_holds_every_layer():
    result = evaluate(case(path={"max_steps": 1}), answered())
    assert list(result.layers) == list(LAYERS)
    assert result.layers["cost"].status is LayerStatus.SKIP


def test_a_case_without_checks_is_an_error():
    result = evaluate(case(), answered())
    assert (result.status, result.error) == (LayerStatus.ERROR, "the case checks nothing")


def test_everything_skipped_is_an_error():
    result = evaluate(case(cost={"max_cost_multiplier": 2.0}), answered())
    assert (result.status, result.error) == (LayerStatus.ERROR, "every check was skipped")


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        (Trace(input="q", steps=[]), "the agent gave no answer"),
        (answered(None), "the agent gave no answer"),
        (
            answered("half", status=TraceStatus.ERROR, error="KeyError"),
            "the agent crashed: KeyError",
        ),
        (answered("half", status=TraceStatus.TIMEOUT), "the agent timed out"),
    ],
)
def test_a_run_without_an_answer_is_an_error_of_the_case(trace, reason):
    wanted = case(correctness={"expected_in_answer": ["zebra"]}, path={"max_steps": 9})
    result = evaluate(wanted, trace)
    assert (result.status, result.error) == (LayerStatus.ERROR, reason)
    assert result.layers["correctness"].checks[0].status is U
    assert result.layers["correctness"].checks[0].message == reason
    assert result.layers["path"].status is LayerStatus.PASS


def test_a_crash_does_not_hide_a_forbidden_tool():
    trace = answered(None, "rm", status=TraceStatus.ERROR)
    result = evaluate(case(path={"forbidden_tools": ["rm"]}), trace)
    assert result.status is LayerStatus.FAIL


def test_an_empty_string_is_an_answer():
    result = evaluate(case(correctness={"exact_match": ""}), answered(""))
    assert (result.status, result.error) == (LayerStatus.PASS, None)


def test_a_status_of_failure_is_an_answer():
    result = evaluate(
        case(correctness={"exact_match": "no"}), answered("no", status=TraceStatus.FAILURE)
    )
    assert result.status is LayerStatus.PASS


def test_the_default_match_mode_needs_a_reference():
    asked = case(path={"max_steps": 9})
    without = evaluate(asked, answered("a", "x"))
    assert [check.name for check in without.layers["path"].checks] == ["max_steps"]
    baseline = answered("a", "search")
    with_baseline = evaluate(asked, answered("a", "x"), baseline)
    assert [check.name for check in with_baseline.layers["path"].checks] == [
        "max_steps",
        "match_mode",
    ]
    assert with_baseline.layers["path"].status is LayerStatus.WARN


def test_reference_tools_win_over_the_baseline():
    wanted = EvalCase.from_dict(
        {"query": "q", "path": {"match_mode": "strict"}, "reference_tools": ["a"]}
    )
    assert evaluate(wanted, answered("x", "a"), answered("x", "b")).status is LayerStatus.PASS


def test_without_a_path_block_a_baseline_adds_nothing():
    result = evaluate(case(correctness={"exact_match": "a"}), answered("a"), answered("a", "x"))
    assert result.layers["path"].checks == ()


def test_missing_evidence_makes_checks_unknown():
    wanted = case(path={"max_tool_calls": 0, "forbidden_tools": ["x"]})
    result = evaluate(wanted, answered("a", recorded=frozenset({"tokens"})))
    assert {check.status for check in result.layers["path"].checks} == {U}
    assert result.status is LayerStatus.ERROR  # forbidden_tools has severity fail
    assert "not recorded in this trace: tool_calls" in result.layers["path"].checks[0].message


def test_a_crashing_check_is_reported_as_unknown():
    kind = registry.find_check("max_steps")
    original = kind.judge

    def crash(self, trace, baseline):
        raise KeyError("oops")

    kind.judge = crash
    try:
        result = evaluate(case(path={"max_steps": 1, "max_loops": 1}), answered())
    finally:
        kind.judge = original
    crashed, other = result.layers["path"].checks
    assert (crashed.status, other.status) == (U, P)
    assert "the check itself failed: KeyError: 'oops'" in crashed.message


def test_a_check_that_returns_nonsense_is_unknown():
    kind = registry.find_check("max_steps")
    original = kind.judge
    kind.judge = lambda self, trace, baseline: True
    try:
        result = evaluate(case(path={"max_steps": 1}), answered())
    finally:
        kind.judge = original
    assert result.layers["path"].checks[0].status is U


# Metrics


class Fixed(BaseMetric):
    name = "fixed"

    def __init__(self, value):
        self.value = value

    def calculate(self, trace, test_case):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class Slow(BaseMetric):
    name = "slow"

    async def calculate(self, trace, test_case):
        await asyncio.sleep(0)
        return MetricResult("slow", 7.0)


def measured(metric, **gate):
    plan = MetricPlan.of(metric, **gate)
    return evaluate(case(path={"max_steps": 9}), answered(), metrics=[plan])


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (RuntimeError(), "RuntimeError"),
        (3.5, "calculate returned 3.5, not a MetricResult"),
        (None, "calculate returned None, not a MetricResult"),
        (MetricResult("fixed", float("nan")), "the value is nan, not a number"),
        (MetricResult("fixed", float("inf")), "the value is inf, not a number"),
        (MetricResult("fixed", "high"), "the value is 'high', not a number"),
        (MetricResult("fixed", True), "the value is True, not a number"),
    ],
)
def test_a_failing_metric_has_an_error_and_the_others_are_computed(made, error):
    result = measured(Fixed(made))
    assert result.metrics[0].value is None
    assert error in result.metrics[0].error
    assert result.status is LayerStatus.PASS


@pytest.mark.parametrize(
    ("value", "gate", "status"),
    [
        (5.0, {"maximum": 5.0}, "pass"),
        (5.1, {"maximum": 5.0}, "warn"),
        (5.0, {"minimum": 5.0}, "pass"),
        (4.9, {"minimum": 5.0, "severity": HARD}, "fail"),
        (None, {"maximum": 5.0}, "warn"),
        (None, {"maximum": 5.0, "severity": HARD}, "error"),
    ],
)
def test_a_gate_on_a_metric(value, gate, status):
    result = measured(Fixed(MetricResult("fixed", value)), **gate)
    assert result.status.value == status
    assert result.metrics[0].gate.name == "fixed"


def test_a_gate_on_a_metric_that_raises_is_not_a_pass():
    assert measured(Fixed(ValueError("x")), maximum=1.0, severity=HARD).status is LayerStatus.ERROR


def test_an_async_metric_is_awaited_without_a_loop():
    assert measured(Slow()).metrics[0].value == 7.0


def test_an_async_metric_is_awaited_in_a_running_loop():
    async def notebook():
        return measured(Slow(), maximum=1.0, severity=HARD)

    result = asyncio.run(notebook())
    assert result.metrics[0].value == 7.0
    assert result.status is LayerStatus.FAIL


def test_evaluate_async_gives_the_same():
    async def go():
        return await evaluate_async(
            case(path={"max_steps": 9}), answered(), metrics=[Slow(), Fixed(MetricResult("f", 1))]
        )

    result = asyncio.run(go())
    assert [metric.value for metric in result.metrics] == [7.0, 1]
    assert result.status is LayerStatus.PASS


def test_an_async_metric_that_raises_has_an_error():
    class Broken(BaseMetric):
        name = "broken"

        async def calculate(self, trace, test_case):
            raise ValueError("late")

    assert measured(Broken()).metrics[0].error == "ValueError: late"
    assert measured(Broken(), maximum=1.0, severity=HARD).status is LayerStatus.ERROR


def test_the_four_default_metrics_are_computed_in_every_run():
    result = evaluate(case(path={"max_steps": 9}), answered("a", "x"))
    found = {metric.metric_name: metric.value for metric in result.metrics}
    assert found == {
        "step_count": 1.0,
        "token_usage": None,
        "tool_call_count": 1.0,
        "duration": None,
    }


def test_the_reference_of_a_metric_may_come_from_the_baseline():
    from trialrun.metrics import SequenceLcsMetric

    wanted = case(path={"max_steps": 9})
    result = Evaluator(metrics=[SequenceLcsMetric()]).evaluate(
        answered("a", "x", "y", "z"), wanted, baseline=answered("a", "x", "z")
    )
    assert result.metrics[0].value == pytest.approx(2 * 2 / 5)
    assert wanted.reference_tools is None


# Conversations

TALK = EvalCase.from_dict(
    {
        "name": "refund",
        "turns": [
            {"query": "I want my money back", "path": {"expected_tools": ["find_order"]}},
            {"query": "Order 12", "correctness": {"expected_in_answer": ["30 days"]}},
        ],
        "cost": {"max_total_tokens": 10},
    }
)


def talk(*steps, output="within 30 days"):
    return Trace(input="I want my money back", output=output, steps=steps)


def test_each_turn_is_evaluated_by_its_own_expectations():
    said = Step.llm_call("m", output="Which order?", tokens=TokenUsage(6))
    trace = talk(Step.tool_call("find_order"), said, Step.human_input("Order 12"))
    result = evaluate(TALK, trace)
    assert result.status is LayerStatus.PASS
    assert {(check.name, check.turn) for _, check in result.checks()} == {
        ("expected_in_answer", 2),
        ("expected_tools", 1),
        ("max_total_tokens", None),
    }


def test_a_call_in_the_wrong_turn_does_not_count():
    said = Step.llm_call("m", output="Which order?", tokens=TokenUsage(6))
    trace = talk(said, Step.human_input("Order 12"), Step.tool_call("find_order"))
    result = evaluate(TALK, trace)
    assert result.layers["path"].checks[0].status is F


def test_a_turn_missing_from_the_trace_is_unknown():
    result = evaluate(TALK, talk(Step.tool_call("find_order")))
    assert result.status is LayerStatus.ERROR
    check = result.layers["correctness"].checks[0]
    assert (check.turn, check.status, check.message) == (2, U, "the trace has only 1 turn")


def test_defaults_and_blocks_of_the_case_apply_to_the_whole_conversation():
    said = Step.llm_call("m", output="Which order?", tokens=TokenUsage(6))
    trace = talk(Step.tool_call("find_order"), said, Step.human_input("Order 12"), said)
    assert evaluate(TALK, trace).layers["cost"].checks[0].message == "12 tokens, limit 10"


def test_the_result_has_the_totals_of_its_trace():
    usage = TokenUsage(prompt_tokens=10, completion_tokens=5)
    trace = Trace(input="q", output="a", duration_ms=12.0)
    trace.add_step(Step.llm_call("m", "in", "out", usage, cost_usd=0.01))
    case = EvalCase.from_dict({"query": "q", "correctness": {"exact_match": "a"}})
    result = evaluate(case, trace)
    assert (result.duration_ms, result.total_tokens, result.cost_usd) == (12.0, 15, 0.01)
    nothing = evaluate(case, Trace(input="q", output="a"))
    assert (nothing.duration_ms, nothing.total_tokens, nothing.cost_usd) == (None, None, None)
