"""The definitions of checks and measures as data: every row of tests/data/conformance is met."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trialrun import EvalCase, Step, TokenUsage, Trace, evaluate
from trialrun.judge import minimum_score
from trialrun.measures.loops import loop_count
from trialrun.measures.matching import MODES, matches
from trialrun.measures.sequence import sequence_edit, sequence_lcs
from trialrun.measures.sets import tool_f1, tool_precision, tool_recall

DATA = Path(__file__).parent / "data" / "conformance"
OUTCOMES = {True: "pass", False: "fail", None: "skipped"}


def rows(name):
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 50
    return [json.loads(line) for line in lines]


def assert_row(layer, row, trace, baseline=None):
    case = EvalCase.from_dict({"query": "q", layer: row[layer]})
    result = evaluate(case, trace, baseline)
    found = {check.name: check.status.value for check in result.layers[layer].checks}
    assert found == {name: OUTCOMES[outcome] for name, outcome in row["checks"].items()}
    assert result.layers[layer].status.value == row["layer"]


@pytest.mark.parametrize("row", rows("correctness"))
def test_correctness(row):
    assert_row("correctness", row, Trace(input="q", output=row["answer"]))


@pytest.mark.parametrize("row", rows("path"))
def test_path(row):
    steps = [Step.tool_call(name) for name in row["calls"]]
    assert_row("path", row, Trace(input="q", output="a", steps=steps))


@pytest.mark.parametrize("row", rows("cost"))
def test_cost(row):
    actual = row["actual"]
    trace = Trace(input="q", output="a", duration_ms=actual["latency_ms"])
    for number in range(actual["llm_calls"]):
        first = number == 0
        trace.add_step(
            Step.llm_call(
                "m",
                tokens=TokenUsage(prompt_tokens=actual["tokens"] if first else 0),
                cost_usd=actual["cost_usd"] if first else 0.0,
            )
        )
    before = row["baseline_cost_usd"]
    baseline = None
    if before is not None:
        step = Step.llm_call("m", tokens=TokenUsage(), cost_usd=before)
        baseline = Trace(input="q", output="a", steps=[step])
    assert_row("cost", row, trace, baseline)


@pytest.mark.parametrize("row", rows("sequence"))
def test_sequence(row):
    pair = (row["predicted"], row["reference"])
    assert sequence_lcs(*pair) == pytest.approx(row["sequence_lcs"], abs=1e-12)
    assert sequence_edit(*pair) == pytest.approx(row["sequence_edit"], abs=1e-12)


@pytest.mark.parametrize("row", rows("sets"))
def test_sets(row):
    for measure in (tool_recall, tool_precision, tool_f1):
        found = measure(row["expected"], row["used"])
        assert found == pytest.approx(row[measure.__name__], abs=1e-12)


@pytest.mark.parametrize("row", rows("loops"))
def test_loops(row):
    assert loop_count(row["calls"]) == row["loop_count"]


@pytest.mark.parametrize("row", rows("match_modes"))
def test_match_modes(row):
    for mode in MODES:
        assert matches(row["predicted"], row["reference"], mode) is row[mode]


@pytest.mark.parametrize("row", rows("judge_threshold"))
def test_judge_threshold(row):
    assert minimum_score(row["threshold"]) == row["minimum_score"]
