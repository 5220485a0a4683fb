"""What a check found, as plain values: in every result, bounded, and described only when read."""

from __future__ import annotations

import copy
import json
import pickle

import msgspec
import pytest
from msgspec.structs import replace

from trialrun import EvalCase, Step, TokenUsage, Trace, evaluate, registry
from trialrun.checks.base import Check
from trialrun.model.check_data import MOST_ITEMS, JudgedLayer, bounded_data
from trialrun.model.results import CheckStatus, LayerResult, LayerStatus

CALLS = [Step.tool_call("search"), Step.tool_call("book")]
MODEL = Step.llm_call("m", "in", "out", TokenUsage(prompt_tokens=70, completion_tokens=30))


def result_of(block: dict, **trace: object):
    layer = next(iter(block))
    made = Trace(**{"input": "q", "output": "A refund takes a month.", **trace})
    (check,) = evaluate(EvalCase.from_dict({"query": "q", **block}), made).layers[layer].checks
    return check


HELD = {
    "max_tool_calls": ({"path": {"max_tool_calls": 5}}, CALLS, "2 tool calls, limit 5", 2, 5),
    "max_steps": ({"path": {"max_steps": 2}}, CALLS, "2 steps, limit 2", 2, 2),
    "max_loops": ({"path": {"max_loops": 1}}, CALLS, "0 loops, limit 1", 0, 1),
    "max_llm_calls": ({"cost": {"max_llm_calls": 1}}, [MODEL], "1 model call, limit 1", 1, 1),
    "max_total_tokens": (
        {"cost": {"max_total_tokens": 1200}},
        [MODEL],
        "100 tokens, limit 1,200",
        100,
        1200,
    ),
    "max_repeats": (
        {"path": {"max_repeats": 3}},
        [Step.tool_call("search", {"q": 1})] * 2,
        "`search` was called 2 times with the same arguments, limit 3",
        2,
        3,
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_a_limit_that_holds_states_its_figure(name):
    block, steps, message, found, limit = HELD[name]
    check = result_of(block, steps=steps)
    assert (check.status, check.message) == (CheckStatus.PASS, message)
    assert (check.data["found"], check.data["limit"]) == (found, limit)


def test_a_limit_that_is_broken_states_the_same_in_data():
    check = result_of({"path": {"max_tool_calls": 1}}, steps=CALLS)
    assert (check.status, check.message) == (CheckStatus.FAIL, "2 tool calls, limit 1")
    figures = {"found": 2, "limit": 1, "tools": ["search", "book"]}
    assert check.data == {**figures, "steps": ["2"]}


PRICED = [Step.llm_call("m", "in", "out", cost_usd=0.02)] * 3
BEYOND = {  # what is asked, the steps, and the first of them that is too much
    "max_tool_calls": ({"path": {"max_tool_calls": 1}}, [MODEL, *CALLS], ["3"]),
    "max_steps": ({"path": {"max_steps": 2}}, [*CALLS, MODEL, MODEL], ["3"]),
    "max_llm_calls": ({"cost": {"max_llm_calls": 1}}, [MODEL, *CALLS, MODEL], ["4"]),
    "max_loops": ({"path": {"max_loops": 1}}, [CALLS[0]] * 4, ["3"]),
    "max_total_tokens": ({"cost": {"max_total_tokens": 150}}, [MODEL] * 3, ["2"]),
    "max_cost_usd": ({"cost": {"max_cost_usd": 0.05}}, PRICED, ["3"]),
    "max_tool_errors": (
        {"path": {"max_tool_errors": 0}},
        [CALLS[0], Step.tool_call("book", error="full")],
        ["2"],
    ),
    "forbidden_tools": ({"path": {"forbidden_tools": ["book"]}}, [*CALLS, CALLS[1]], ["2", "3"]),
}


@pytest.mark.parametrize("name", BEYOND)
def test_a_failure_names_the_steps_that_decided_it(name):
    block, steps, deciding = BEYOND[name]
    check = result_of(block, steps=steps)
    assert (check.status, check.data["steps"]) == (CheckStatus.FAIL, deciding)


def test_terms_that_are_missing_and_found_are_listed():
    terms = ["refund", ["30 days", "a month"], "receipt"]
    check = result_of({"correctness": {"expected_in_answer": terms}})
    assert check.data == {"wanted": terms, "found": ["refund", "a month"], "missing": ["receipt"]}


def test_sources_that_are_missing_and_found_are_listed():
    steps = [Step.tool_call("search", {}, [{"source": "docs/a.md", "text": "x"}])]
    block = {"retrieval": {"tool": "search", "expected_sources": ["a.md", "b.md"]}}
    check = result_of(block, steps=steps)
    assert check.data == {"wanted": ["a.md", "b.md"], "found": ["a.md"], "missing": ["b.md"]}


def test_a_gate_states_its_figure_and_bounds():
    case = EvalCase.from_dict(
        {"query": "q", "correctness": {"exact_match": "ok"}},
    )
    from trialrun.model.case import MetricPlan

    kind = registry.find_metric("tool_call_count")
    plan = MetricPlan(kind(), minimum=1, maximum=5, gated=True)
    trace = Trace(input="q", output="ok", steps=CALLS)
    (metric,) = evaluate(case, trace, metrics=[plan]).metrics
    assert metric.gate.message == "2, at least 1, at most 5"
    assert metric.gate.data == {"found": 2, "minimum": 1, "limit": 5}


@pytest.mark.parametrize(
    ("limit", "took", "message"),
    [
        (100, 100.01, "100.01 ms, limit 100"),
        (100, 100.004, "100.004 ms, limit 100"),
        (1000, 1200.0, "1,200 ms, limit 1,000"),
        (0.5, 1.25, "1 ms, limit 0.5"),
        (1200, 1200.0, "1,200 ms, limit 1,200"),
    ],
)
def test_a_duration_has_digits_enough_to_differ_from_its_limit(limit, took, message):
    assert result_of({"cost": {"max_latency_ms": limit}}, duration_ms=took).message == message


# Described when read


def passed(limit: int = 2) -> tuple[Trace, LayerResult]:
    trace = Trace(input="q", output="ok", steps=CALLS)
    case = EvalCase.from_dict({"query": "q", "path": {"max_tool_calls": limit}})
    return trace, evaluate(case, trace).layers["path"]


def test_a_pass_states_what_was_judged_though_the_trace_has_changed_since():
    trace, layer = passed()
    trace.add_step(Step.tool_call("delete"))
    assert layer.checks[0].message == "2 tool calls, limit 2"


def test_a_failure_states_what_was_judged_though_the_trace_has_changed_since():
    trace, layer = passed(limit=1)
    trace.add_step(Step.tool_call("delete"))
    assert (layer.status, layer.checks[0].message) == (LayerStatus.WARN, "2 tool calls, limit 1")
    assert layer.checks[0].data["found"] == 2


def test_a_result_lets_go_of_its_trace_when_it_is_settled():
    case = EvalCase.from_dict({"query": "q", "path": {"max_tool_calls": 2}})
    result = evaluate(case, Trace(input="q", output="ok", steps=CALLS))
    assert isinstance(result.layers["path"], JudgedLayer)
    result.settle()
    assert type(result.layers["path"]) is LayerResult
    assert result.layers["path"].checks[0].message == "2 tool calls, limit 2"


def test_a_layer_that_was_not_read_equals_one_that_was():
    _, one = passed()
    _, other = passed()
    assert one == other == one.settled()
    assert copy.deepcopy(passed()[1]) == pickle.loads(pickle.dumps(passed()[1])) == one  # noqa: S301


def test_an_encoder_never_writes_the_trace_in_place_of_the_results():
    _, layer = passed()
    with pytest.raises(TypeError):
        msgspec.json.encode(layer)


def test_a_description_that_crashes_changes_no_verdict(monkeypatch):
    def crash(self: object, trace: object, baseline: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(registry.find_check("max_tool_calls"), "describe", crash)
    assert passed()[1].checks[0].status is CheckStatus.PASS
    assert passed(limit=1)[1].checks[0].status is CheckStatus.FAIL
    assert passed(limit=1)[1].settled(brief=True).checks[0].status is CheckStatus.FAIL


# Every check


def examples(outcome: CheckStatus) -> list:
    kinds = [registry.find_check(name) for name in registry.names(registry.CHECKS)]
    return [
        pytest.param(kind, example, id=f"{kind.key}-{number}")
        for kind in kinds
        if kind is not None and not kind.judged
        for number, example in enumerate(kind.examples)
        if example.outcome is outcome
    ]


@pytest.mark.parametrize(("kind", "example"), examples(CheckStatus.PASS))
def test_every_pass_can_be_described(kind, example):
    case = EvalCase.from_dict({"query": "question", **example.case, kind.layer: example.block})
    trace, baseline = example.trace(), example.baseline()
    plans = [plan for plan in case.plan.free if plan.name == kind.layer]
    (check,) = [one for plan in plans for one in plan.checks if one.key == kind.key]
    made = check.describe(trace, baseline)  # must not raise: in a report that would be swallowed
    if made is not None:
        assert made[0]
        json.dumps(bounded_data(made[1]), allow_nan=False)


@pytest.mark.parametrize(
    ("kind", "example"), examples(CheckStatus.PASS) + examples(CheckStatus.FAIL)
)
def test_a_brief_result_lacks_only_the_data_of_what_passed(kind, example):
    case = EvalCase.from_dict({"query": "question", **example.case, kind.layer: example.block})
    whole, brief = (evaluate(case, example.trace(), example.baseline()) for _ in range(2))
    brief.settle(brief=True)
    for (_, one), (_, other) in zip(whole.checks(), brief.checks(), strict=True):
        if one.status is CheckStatus.PASS and other.data == {}:
            one = replace(one, data={})
        assert one == other


def test_a_brief_result_has_no_data_of_what_passed():
    layer = passed()[1].settled(brief=True)
    assert (layer.checks[0].message, layer.checks[0].data) == ("2 tool calls, limit 2", {})
    assert passed(limit=1)[1].settled(brief=True).checks[0].data["found"] == 2


# Checks that have nothing to say beside their message.
WITHOUT_DATA = {"state", "task_completed", "forbid_empty", "json_schema"}


@pytest.mark.parametrize(("kind", "example"), examples(CheckStatus.FAIL))
def test_every_failure_has_data(kind, example):
    if kind.key in WITHOUT_DATA or kind.layer == "verification":
        pytest.skip("its message says all")
    case = EvalCase.from_dict({"query": "question", **example.case, kind.layer: example.block})
    result = evaluate(case, example.trace(), example.baseline())
    (check,) = [one for _, one in result.checks() if one.name == kind.key]
    assert check.data or "never called" in check.message


# Bounded


class Odd:
    def __repr__(self) -> str:
        raise ValueError


def test_data_is_plain_json_of_bounded_size():
    endless: list = []
    endless.append(endless)
    data = {
        "text": "x" * 10_000,
        "list": list(range(1000)),
        "set": {"b", "a"},
        "nan": float("nan"),
        "huge": 10**400,
        "odd": Odd(),
        "endless": endless,
        "wide": [[["y" * 1000] * 100] * 100] * 100,
        1: True,
    }
    made = bounded_data(data)
    assert made["text"] == "x" * 300 + "…"
    assert made["list"][-1] == f"… and {1000 - MOST_ITEMS} more"
    assert made["set"] == ["a", "b"]
    assert made["nan"] == "nan"
    assert made["odd"] == "something of the type Odd"
    assert made["1"] is True
    assert len(json.dumps(made, allow_nan=False)) < 200_000


def test_a_custom_check_passes_data_too():
    class Polite(Check):
        word: str

        def judge(self, trace, baseline):
            return self.failed("impolite", {"wanted": self.word, "found": Odd()})

    Polite.key, Polite.layer, Polite.needs = "polite", "correctness", frozenset()
    Polite.default_severity = registry.find_check("exact_match").default_severity
    result = Polite(word="please").judge(Trace(input="q", output="a"), None)
    assert result.data == {"wanted": "please", "found": "something of the type Odd"}
