"""The contract of every registered metric."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, Step, TokenUsage, Trace, registry
from trialrun.model.results import MetricResult

METRICS = {name: registry.find_metric(name) for name in registry.names(registry.METRICS)}
CASE = EvalCase.from_dict(
    {
        "query": "q",
        "path": {"expected_tools": ["a", "b"], "max_steps": 2},
        "reference_tools": ["a", "b"],
    }
)


def a_trace(**fields):
    usage = TokenUsage(prompt_tokens=10, completion_tokens=5)
    steps = [
        Step.llm_call("gpt-4o-mini", "in", "out", usage, duration_ms=10),
        Step.tool_call("a", {}, "r", duration_ms=20),
        Step.tool_call("a", {}, "r", duration_ms=20),
        Step.reasoning("hm"),
    ]
    return Trace(input="q", output="a", steps=steps, **fields)


def test_all_documented_metrics_exist():
    wanted = """
        step_count token_usage tool_call_count duration tool_diversity step_efficiency
        llm_call_count error_rate avg_step_duration token_cost retry_rate reasoning_depth
        tool_recall tool_precision tool_f1 sequence_lcs sequence_edit loop_count
    """
    assert set(METRICS) >= set(wanted.split())


@pytest.mark.parametrize("kind", METRICS.values(), ids=METRICS)
def test_it_is_documented(kind):
    assert kind.__doc__ and kind.formula
    module = __import__(kind.__module__, fromlist=["x"])
    assert module.__doc__.startswith(f"`{kind.name}`: ")


@pytest.mark.parametrize("kind", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("case", [CASE, None], ids=["case", "no case"])
def test_its_result_has_its_name(kind, case):
    result = kind().calculate(a_trace(), case)
    assert type(result) is MetricResult
    assert (result.metric_name, result.unit, result.error) == (kind.name, kind.unit, None)
    assert result.value is None or result.value >= 0


@pytest.mark.parametrize("kind", METRICS.values(), ids=METRICS)
def test_it_does_not_crash_on_an_empty_trace(kind):
    result = kind().calculate(Trace(input="q"), CASE)
    assert result.error is None
    assert result.value is not None


# A ledger that cannot see what calls returned has no verdict, and so these have no value.
OF_LEDGERS = {"verification_compliance", "strict_verification_compliance"}


@pytest.mark.parametrize("name", sorted(set(METRICS) - OF_LEDGERS))
def test_its_formula_does_not_look_at_what_was_recorded(name):
    kind = METRICS[name]
    bare = kind().calculate(a_trace(recorded=frozenset()), CASE)
    assert bare == kind().calculate(a_trace(), CASE)
    assert bare.error is None
