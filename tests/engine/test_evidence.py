"""No evidence is never a pass: the contract of every registered check and metric.

The contract has no list of exceptions. What a check or a metric needs is what it declares; what it
declares is tried.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

import trialrun
from tests.helpers import property_test
from trialrun import EvalCase, Step, TokenUsage, Trace, TraceStatus, evaluate, load_suite, registry
from trialrun.checks.base import Check, check, fails, passes
from trialrun.engine.score import score
from trialrun.judge import Judge
from trialrun.metrics.base import BaseMetric, BuiltInMetric
from trialrun.model.case import MetricPlan
from trialrun.model.evidence import ANSWER, COMPUTED_FROM, EVIDENCE
from trialrun.model.results import CheckStatus, LayerStatus, MetricResult
from trialrun.spec.case import plan_of

P, F, U = CheckStatus.PASS, CheckStatus.FAIL, CheckStatus.UNKNOWN
CHECKS = {name: registry.find_check(name) for name in registry.names(registry.CHECKS)}
METRICS = {name: registry.find_metric(name) for name in registry.names(registry.METRICS)}
EXAMPLES = [
    pytest.param(kind, example, id=f"{name}-{number}")
    for name, kind in CHECKS.items()
    for number, example in enumerate(kind.examples)
]
ONLY_ANSWER = frozenset({ANSWER})


def case_of(kind, example):
    return EvalCase.from_dict({"query": "question", kind.layer: example.block, **example.case})


def found_by(kind, example, trace):
    """The result of the check on the trace; a judge, if it asks one, likes everything."""

    def likes(question):
        return 5

    result = evaluate(case_of(kind, example), trace, example.baseline(), judge=Judge(likes))
    names = (kind.key, f"{kind.__module__}:{kind.__qualname__}")
    (found,) = [found for _, found in result.checks() if found.name in names]
    return found


def needs_of(kind, example):
    """What the check needs with these settings."""
    plan = plan_of(case_of(kind, example))
    checks = [*plan.judges, *(one for layer in plan.free for one in layer.checks)]
    return next((whole_needs(one) for one in checks if one.name == kind.key), kind.needs)


def whole_needs(one):
    """What the check needs; a combination needs what its parts need."""
    parts = [part for group in vars(one).get("groups", ()) for part in group]
    return one.needs.union(*map(whole_needs, parts))


def assert_passes_on_nothing_but_its_answer(kind, example):
    trace = Trace(input="question", output=example.answer or "fine")
    assert trace.recorded == ONLY_ANSWER
    if needs_of(kind, example) != ONLY_ANSWER:
        found = found_by(kind, example, trace)
        assert found.status not in (P, F), f"{found.status}: {found.message}"


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_a_check_has_no_verdict_on_an_answer_alone_unless_it_needs_only_that(kind, example):
    assert_passes_on_nothing_but_its_answer(kind, example)


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_a_check_is_unknown_without_each_kind_that_it_needs(kind, example):
    for needed in needs_of(kind, example):
        trace = example.trace()
        trace.recorded = EVIDENCE - {needed, COMPUTED_FROM.get(needed)}
        assert needed not in trace.recorded
        found = found_by(kind, example, trace)
        assert (found.status, needed in found.message) == (U, True), (needed, found.message)


def assert_no_gate_holds_on_an_answer(kind):
    case = EvalCase.from_dict(
        {"query": "q", "path": {"expected_tools": ["a"]}, "reference_tools": ["a"]}
    )
    trace = Trace(input="q", output="fine")
    plans = [MetricPlan.of(kind(), minimum=-1e9), MetricPlan.of(kind(), maximum=1e9)]
    for metric in evaluate(case, trace, metrics=plans).metrics:
        assert metric.gate.status is U, metric.gate.message
        assert metric.value is None, metric.value
        assert metric.details["message"]


@pytest.mark.parametrize("kind", METRICS.values(), ids=METRICS)
def test_a_metric_has_no_value_and_no_gate_that_holds_on_an_answer_alone(kind):
    assert_no_gate_holds_on_an_answer(kind)


@pytest.mark.parametrize("kind", METRICS.values(), ids=METRICS)
def test_a_metric_names_what_it_needs_and_has_no_value_without_it(kind):
    assert kind.needs and kind.needs <= EVIDENCE
    case = EvalCase.from_dict(
        {"query": "q", "path": {"expected_tools": ["a"]}, "reference_tools": ["a"]}
    )
    usage = TokenUsage(prompt_tokens=3, completion_tokens=1)
    steps = [
        Step.llm_call("m", "in", "out", usage, cost_usd=0.5, duration_ms=2),
        Step.tool_call("a", {}, "12 passed", duration_ms=1),
    ]
    answer = "$ pytest -q\n12 passed in 0.2s"
    (full,) = evaluate(case, Trace(input="q", output=answer, steps=steps), metrics=[kind()]).metrics
    assert full.value is not None, full.details
    for needed in kind.needs:
        left = EVIDENCE - {needed, COMPUTED_FROM.get(needed)}
        trace = Trace(input="q", output=answer, steps=steps, recorded=left)
        (found,) = evaluate(case, trace, metrics=[kind()]).metrics
        assert found.value is None
        assert found.details["message"] == f"not recorded in this trace: {needed}"


@check(layer="path")
class Careless(Check):
    """A check that needs steps and does not say so."""

    limit: int
    examples = (passes(1, tools=["a"]), fails(0, tools=["a"]))

    def judge(self, trace, baseline):
        if len(trace.steps) <= self.limit:
            return self.passed("few steps")
        return self.failed("many steps")


class CarelessMetric(BuiltInMetric):
    name = "careless"

    def calculate(self, trace, test_case=None):
        return self.result(float(len(trace.steps)))


def test_the_contract_can_fail(monkeypatch):
    case = {"query": "q", "path": {f"{__name__}:Careless": 1}}
    monkeypatch.setattr(f"{__name__}.case_of", lambda kind, example: EvalCase.from_dict(case))
    for example in Careless.examples:
        with pytest.raises(AssertionError):
            assert_passes_on_nothing_but_its_answer(Careless, example)
    with pytest.raises(AssertionError):
        assert_no_gate_holds_on_an_answer(CarelessMetric)


def test_a_need_that_does_not_exist_is_refused():
    with pytest.raises(Exception, match="needs: expected kinds among"):
        check(layer="path", needs={"tool_call"})(type("Typo", (Check,), {}))
    typo = type("TypoMetric", (CarelessMetric,), {"needs": {"tool_call"}})
    with pytest.raises(Exception, match="TypoMetric: needs: expected kinds among"):
        evaluate(EvalCase.from_dict(ASKED), Trace(input="q"), metrics=[typo()])


# Custom metrics

ASKED = {"query": "q", "correctness": {"expected_in_answer": ["a"]}}


class Words(BaseMetric):
    name = "words"

    def calculate(self, trace, test_case):
        return MetricResult(self.name, float(len(trace.output.split())), None, {})


class WordsOfAnswer(Words):
    needs = ("answer",)


class WordsLater(Words):
    async def calculate(self, trace, test_case):
        return super().calculate(trace, test_case)


def gate_on(metric, trace):
    plan = MetricPlan.of(metric, maximum=5)
    (found,) = evaluate(EvalCase.from_dict(ASKED), trace, metrics=[plan]).metrics
    return found.value, found.gate.status


@pytest.mark.parametrize("kind", [Words, WordsLater])
def test_a_custom_metric_without_needs_is_computed_and_its_gate_unknown_without_steps(kind):
    assert gate_on(kind(), Trace(input="q", output="a b")) == (2.0, U)
    assert gate_on(kind(), Trace(input="q", output="a b", duration_ms=3)) == (2.0, U)
    assert gate_on(kind(), Trace(input="q", output="a b", steps=[])) == (2.0, P)


def test_a_custom_metric_with_needs_is_gated_where_they_are_met():
    assert gate_on(WordsOfAnswer(), Trace(input="q", output="a b")) == (2.0, P)
    assert gate_on(WordsOfAnswer(), Trace(input="q", steps=[])) == (None, U)


# Verification, durations


@pytest.mark.parametrize("trace", [Trace(input="q", output="fine"), Trace(input="q")])
def test_compliance_is_undefined_where_nothing_is_said(trace):
    metric = METRICS["verification_compliance"]()
    plan = MetricPlan.of(metric, minimum=0.5, severity="fail")
    result = evaluate(EvalCase.from_dict(ASKED), trace, metrics=[plan])
    assert (result.metrics[0].value, result.metrics[0].gate.status) == (None, U)
    assert metric.calculate(trace).value > 0  # the formula


def test_a_gate_on_compliance_makes_a_run_without_an_answer_an_error():
    metric = METRICS["verification_compliance"]()
    case = EvalCase.from_dict({"query": "q", "path": {"max_steps": 9}})
    plan = MetricPlan.of(metric, minimum=0.9, severity="fail")
    result = evaluate(case, Trace(input="q", steps=[]), metrics=[plan])
    assert (result.status, result.error) == (LayerStatus.ERROR, "the agent gave no answer")


def test_the_mean_duration_of_a_step_needs_the_duration_of_each():
    metric = METRICS["avg_step_duration"]()
    step = Step.tool_call("a", {}, "r", duration_ms=10)
    timed = Trace(input="q", output="a", steps=[step], duration_ms=20)
    assert gate_on(metric, timed) == (10.0, F)
    timed.add_step(Step.tool_call("b"))
    assert metric.calculate(timed).value == 5.0
    assert gate_on(metric, timed) == (None, U)


def test_a_duration_of_no_steps_and_no_times_is_undefined():
    trace = Trace(input="q", output="a", steps=[], recorded=EVIDENCE)
    assert METRICS["duration"]().calculate(trace).value == 0
    assert gate_on(METRICS["duration"](), trace) == (None, U)


# Statuses


@pytest.mark.parametrize("severity", ["fail", "warn"])
@pytest.mark.parametrize(
    ("layer", "name", "value"),
    [("cost", "max_llm_calls", 0), ("path", "max_handoff_count", 0), ("cost", "max_cost_usd", 0)],
)
def test_a_case_without_a_decided_check_is_an_error(layer, name, value, severity):
    block = {layer: {name: {"value": value, "severity": severity}}}
    result = evaluate(EvalCase.from_dict({"query": "q", **block}), Trace(input="q", output="hello"))
    assert result.status is LayerStatus.ERROR
    assert not result.passed
    reason = result.layers[layer].checks[0].message
    assert reason.startswith("not recorded in this trace: ")
    if severity == "warn":
        assert result.error == f"no check could be decided: {name}: {reason}"


def test_one_decided_check_is_enough_for_a_warning():
    block = {"cost": {"max_llm_calls": 0}, "correctness": {"exact_match": "hello"}}
    case = EvalCase.from_dict({"query": "q", **block})
    assert evaluate(case, Trace(input="q", output="hello")).status is LayerStatus.WARN
    block = {"cost": {"max_llm_calls": 0}, "path": {"max_tool_calls": 0}}
    tools = Trace(input="q", output="hello", steps=[Step.tool_call("a")])
    result = evaluate(EvalCase.from_dict({"query": "q", **block}), tools)
    assert [found.status for _, found in result.checks()] == [F, U]
    assert result.status is LayerStatus.WARN  # a check failed, with severity warn


def test_gates_count_as_checks():
    case = EvalCase.from_dict({"query": "q", "cost": {"max_llm_calls": 0}})
    gate = MetricPlan.of(WordsOfAnswer(), maximum=5)
    trace = Trace(input="q", output="hello")
    assert evaluate(case, trace, metrics=[gate]).status is LayerStatus.WARN
    assert evaluate(case, trace, metrics=[]).status is LayerStatus.ERROR


@pytest.mark.parametrize("status", [TraceStatus.SUCCESS, TraceStatus.FAILURE])
def test_an_error_beside_an_answer_is_an_error_of_the_agent(status):
    trace = Trace(input="q", output="30 days", error="stream broke off", status=status)
    case = EvalCase.from_dict({"query": "q", "correctness": {"expected_in_answer": ["30 days"]}})
    result = evaluate(case, trace)
    assert result.status is LayerStatus.ERROR
    assert result.error == "the agent reported an error: stream broke off"
    assert result.layers["correctness"].checks[0].status is U


# Totals


def test_the_totals_of_a_result_come_from_its_trace():
    case = EvalCase.from_dict(ASKED)
    usage = TokenUsage(prompt_tokens=3, completion_tokens=1)
    call = Step.llm_call("m", "in", "out", usage, cost_usd=0.25)
    result = evaluate(case, Trace(input="q", output="a", steps=[call], duration_ms=7))
    assert (result.duration_ms, result.total_tokens, result.cost_usd) == (7, 4, 0.25)
    bare = evaluate(case, Trace(input="q", output="a", steps=[Step.tool_call("t", duration_ms=1)]))
    assert (bare.duration_ms, bare.total_tokens, bare.cost_usd) == (1, None, None)


# The same trace, however it came

STEPS = some.lists(
    some.sampled_from(
        [
            {"type": "tool_call", "tool_name": "search", "tool_args": {"q": "x"}},
            {"type": "tool_call", "tool_name": "search", "tool_result": "30 days"},
            {"type": "tool_call", "tool_name": "rm"},
            {"type": "llm_call", "model": "m", "cost_usd": 0.5, "duration_ms": 3},
            {
                "type": "llm_call",
                "model": "m",
                "output": "hi",
                "tokens": {"prompt_tokens": 4, "completion_tokens": 2},
            },
            {"type": "handoff", "handoff_to": "billing"},
            {"type": "reasoning", "reasoning_text": "hm"},
        ]
    ),
    max_size=4,
)
TRACES = some.fixed_dictionaries(
    {"output": some.sampled_from(["30 days", "fine", ""])},
    optional={
        "steps": STEPS,
        "error": some.sampled_from(["broke off"]),
        "recorded": some.lists(some.sampled_from(sorted(EVIDENCE)), unique=True),
    },
)
EVERYTHING = {
    "query": "q",
    "correctness": {"expected_in_answer": ["30 days"]},
    "path": {
        "forbidden_tools": ["rm"],
        "max_tool_calls": 0,
        "max_handoff_count": 0,
        "max_repeats": 1,
        "max_steps": 2,
        "tool_args": [{"tool": "search", "args": {"q": "x"}}],
    },
    "cost": {"max_llm_calls": 0, "max_total_tokens": 5, "max_cost_usd": 0.1},
    "verification": {"min_compliance": 0.9},
}


def verdict(result):
    return (
        result.status,
        [(found.name, found.status, found.message) for _, found in result.checks()],
        [(one.metric_name, one.value) for one in result.metrics if one.metric_name != "duration"],
        (result.total_tokens, result.cost_usd),
    )


def by_code(plain):
    given = dict(plain)
    steps = given.pop("steps", None)
    trace = Trace(input="q", **given)
    for step in steps or ():
        usage = step.get("tokens")
        made = {**step, "tokens": TokenUsage(**usage)} if usage else step
        trace.add_step(Step(**made))
    if steps == []:
        trace.steps = []
    return trace


@given(TRACES)
@property_test
def test_the_verdict_does_not_depend_on_where_the_trace_comes_from(plain):
    case = EvalCase.from_dict(EVERYTHING)
    by_dict = Trace.from_dict({"input": "q", **plain})
    expected = verdict(evaluate(case, by_dict))
    assert verdict(evaluate(case, by_code(plain))) == expected
    read = Trace.from_json(json.dumps({"input": "q", **plain}))
    assert verdict(evaluate(case, read)) == expected
    again = Trace.from_json(by_dict.to_json())
    assert (again, verdict(evaluate(case, again))) == (by_dict, expected)


_TOOL = {"type": "tool_call", "tool_name": "search", "tool_args": {"q": "x"}, "tool_result": "r"}
_MODEL = {"type": "llm_call", "model": "m", "cost_usd": 0.05, "output": "hi"}


@pytest.mark.parametrize(
    "plain",
    [
        {"output": "30 days"},
        {"output": "30 days", "steps": []},
        {"output": "30 days", "steps": [_TOOL]},
        {"output": "30 days", "steps": [_TOOL, _MODEL]},
        {"output": "30 days", "steps": [_MODEL], "error": "broke off"},
        {"output": "30 days", "steps": [_TOOL], "recorded": ["answer", "tool_calls"]},
    ],
    ids=["no steps", "empty steps", "tools", "tools and models", "error", "recorded"],
)
def test_score_and_run_give_the_verdict_of_evaluate(plain, tmp_path):
    case = {key: block for key, block in EVERYTHING.items() if key != "name"}
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps({"queries": [case]}))
    traces = tmp_path / "traces.jsonl"
    traces.write_text(json.dumps({"input": "q", **plain}))
    suite = load_suite(spec)
    expected = verdict(evaluate(suite.cases[0], Trace.from_dict({"input": "q", **plain})))
    (scored,) = score([suite], [traces]).results
    assert verdict(scored) == expected
    (live,) = trialrun.run(suite, agent=lambda question: dict(plain)).results
    assert verdict(live) == expected
    made = by_code(plain)
    (live,) = trialrun.run(suite, agent=lambda question: made).results
    assert verdict(live) == expected
