"""A run with every kind of verdict, for tests of the reports."""

from __future__ import annotations

from trialrun import MetricResult
from trialrun.model.results import (
    LAYERS,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    LayerStatus,
    RunResult,
    Severity,
)

NASTY = "\x1b[31mred\x00 \u202egnp.exe ]]> <b>&amp; \ud800 \uffff"


def result(name, status, message="", *, layer="path", error=None, **fields):
    found = {
        LayerStatus.PASS: CheckStatus.PASS,
        LayerStatus.WARN: CheckStatus.FAIL,
        LayerStatus.FAIL: CheckStatus.FAIL,
        LayerStatus.ERROR: CheckStatus.UNKNOWN,
    }[status]
    severity = Severity.WARN if status is LayerStatus.WARN else Severity.FAIL
    layers = {name: LayerResult(LayerStatus.SKIP) for name in LAYERS}
    layers[layer] = LayerResult(status, (CheckResult("some_check", found, severity, message),))
    metrics = [MetricResult("step_count", 3.0, "steps"), MetricResult("duration", None, "ms")]
    return EvaluationResult(
        case_name=name,
        status=status,
        layers=layers,
        metrics=metrics,
        error=error,
        suite_name="suite",
        duration_ms=1500.0,
        **fields,
    )


def everything():
    return RunResult(
        planned=4,
        results=[
            result("good", LayerStatus.PASS, "fine", cost_usd=0.25, total_tokens=1200),
            result("so-so", LayerStatus.WARN, "a little much", cost_usd=0.5),
            result("bad", LayerStatus.FAIL, NASTY),
            result("gone", LayerStatus.ERROR, "no idea", error="the agent crashed"),
        ],
        warnings=["something"],
    )
