"""The scenarios as pytest tests: `pytest demo`. Replace the recorded runs by your own agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from trialrun import LayerStatus, evaluate, load_suite, read_traces

HERE = Path(__file__).parent
CASES = {case.name: case for case in load_suite(HERE / "verification.yaml").cases}
PROVEN = {trace.name: trace for trace in read_traces(HERE / "compliant.jsonl")}
ASSERTED = {trace.name: trace for trace in read_traces(HERE / "non-compliant.jsonl")}


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_proves_its_claims_passes(name: str) -> None:
    layer = evaluate(CASES[name], PROVEN[name]).layers["verification"]
    assert layer.status is LayerStatus.PASS, [check.message for check in layer.checks]


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_only_asserts_its_claims_fails(name: str) -> None:
    layer = evaluate(CASES[name], ASSERTED[name]).layers["verification"]
    assert layer.status is LayerStatus.FAIL
