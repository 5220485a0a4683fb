"""The contract of every registered check."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, Trace, evaluate, registry
from trialrun.checks.base import ANSWER, own_fields
from trialrun.model.results import LAYERS, CheckStatus, LayerStatus, Severity

CHECKS = {name: registry.find_check(name) for name in registry.names(registry.CHECKS)}
EXAMPLES = [
    pytest.param(kind, example, id=f"{name}-{number}-{example.outcome.value}")
    for name, kind in CHECKS.items()
    for number, example in enumerate(kind.examples)
]


def case_of(kind, example):
    return EvalCase.from_dict({"query": "question", kind.layer: example.block, **example.case})


def judged(kind, example, trace=None):
    result = evaluate(case_of(kind, example), trace or example.trace(), example.baseline())
    found = [check for _, check in result.checks() if check.name == kind.key]
    assert len(found) == 1
    return result, found[0]


def test_all_documented_checks_exist():
    wanted = """
        expected_in_answer any_expected_in_answer not_in_answer exact_match regex_match json_schema
        llm_judge safety_check hallucination_check refutes_premise task_completed
        expected_tools min_tool_precision min_tool_f1 expected_tool_sequence
        min_sequence_similarity match_mode max_tool_calls max_loops max_steps min_steps max_repeats
        forbidden_tools tool_args order expected_handoff max_handoff_count span_assertions
        max_cost_multiplier max_total_tokens max_llm_calls max_latency_ms max_cost_usd
        forbid_empty min_results expected_sources facts_in_context
    """
    assert set(CHECKS) >= set(wanted.split())


@pytest.mark.parametrize("kind", CHECKS.values(), ids=CHECKS)
def test_it_is_documented(kind):
    assert kind.__doc__ and len(kind.__doc__) > 40
    assert kind.formula
    module = __import__(kind.__module__, fromlist=["x"])
    assert module.__doc__.startswith(f"`{kind.key}`: ")
    assert kind.layer in LAYERS
    assert own_fields(kind)


@pytest.mark.parametrize("kind", CHECKS.values(), ids=CHECKS)
def test_it_has_passing_and_failing_examples(kind):
    outcomes = {example.outcome for example in kind.examples}
    if kind.judged:
        assert outcomes == {CheckStatus.UNKNOWN}  # without a judge there is no verdict
    else:
        assert {CheckStatus.PASS, CheckStatus.FAIL} <= outcomes


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_its_examples_have_the_stated_outcome(kind, example):
    _, check = judged(kind, example)
    assert check.status is example.outcome, check.message
    assert example.because in check.message
    assert check.message


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_its_severity_decides_the_status_of_its_layer(kind, example):
    if kind.judged:
        return
    expected = {
        (CheckStatus.FAIL, "fail"): LayerStatus.FAIL,
        (CheckStatus.FAIL, "warn"): LayerStatus.WARN,
        (CheckStatus.UNKNOWN, "fail"): LayerStatus.ERROR,
        (CheckStatus.UNKNOWN, "warn"): LayerStatus.WARN,
        (CheckStatus.PASS, "fail"): LayerStatus.PASS,
        (CheckStatus.PASS, "warn"): LayerStatus.PASS,
    }
    for severity in Severity:
        block = {kind.key: {"value": example.block[kind.key], "severity": severity.value}}
        # Other checks in the block are only its settings; they must not decide here.
        beside = {
            key: {"value": value, "severity": "warn"} if key in CHECKS else value
            for key, value in example.block.items()
            if key != kind.key
        }
        if beside.keys() & CHECKS.keys() and example.outcome is not CheckStatus.FAIL:
            continue
        case = EvalCase.from_dict(
            {"query": "question", kind.layer: {**beside, **block}, **example.case}
        )
        result = evaluate(case, example.trace(), example.baseline())
        assert result.layers[kind.layer].status is expected[(example.outcome, severity.value)]


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_it_is_unknown_if_its_evidence_was_not_recorded(kind, example):
    if kind.needs - {ANSWER}:
        bare = example.trace()
        bare.recorded = frozenset()
        _, check = judged(kind, example, bare)
        assert check.status is CheckStatus.UNKNOWN
        assert "not recorded" in check.message
    if ANSWER in kind.needs:
        silent = example.trace()
        silent.output = None
        result, check = judged(kind, example, silent)
        assert check.status is CheckStatus.UNKNOWN
        assert result.status in (LayerStatus.ERROR, LayerStatus.FAIL)


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_it_does_not_crash_on_an_empty_trace(kind, example):
    _, check = judged(kind, example, Trace(input="question", output=""))
    assert check.status in CheckStatus
    assert "itself failed" not in check.message


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_judging_twice_gives_the_same_result(kind, example):
    case = case_of(kind, example)
    trace, baseline = example.trace(), example.baseline()
    assert evaluate(case, trace, baseline) == evaluate(case, trace, baseline)


def test_the_contract_can_fail():
    """A check that always passes is caught by its own failing example."""
    kind = CHECKS["max_tool_calls"]
    failing = next(e for e in kind.examples if e.outcome is CheckStatus.FAIL)
    original = kind.judge
    kind.judge = lambda self, trace, baseline: self.pass_result
    try:
        with pytest.raises(AssertionError):
            test_its_examples_have_the_stated_outcome(kind, failing)
    finally:
        kind.judge = original
