"""The scenarios by pytest: `pytest demo`. Put your own agent in the place of the recorded runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from trialrun import LayerStatus, evaluate, load_suite, read_traces

HERE = Path(__file__).parent
CASES = {case.name: case for case in load_suite(HERE / "verification.yaml").cases}
PROVEN = {trace.name: trace for trace in read_traces(HERE / "compliant.jsonl")}
ASSERTED = {trace.name: trace for trace in read_traces(HERE / "non-compliant.jsonl")}


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_proves_its_work(name: str) -> None:
    layer = evaluate(CASES[name], PROVEN[name]).layers["verification"]
    assert layer.status is LayerStatus.PASS, [check.message for check in layer.checks]


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_only_asserts_it(name: str) -> None:
    layer = evaluate(CASES[name], ASSERTED[name]).layers["verification"]
    assert layer.status is LayerStatus.FAIL
