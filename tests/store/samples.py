"""Runs, plans and attempts for the tests of the store."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta

from trialrun import CheckStatus, LayerStatus, Step, Trace
from trialrun.model.results import (
    CheckResult,
    EvaluationResult,
    LayerResult,
    MetricResult,
    Severity,
)
from trialrun.store import Attempt, PlannedCase, RunRecord

NOON = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)


def no_redaction(value):
    """A redactor that masks nothing."""
    return value


def results_of(store, run_id, positions=None):
    """The results without traces, as reports read them."""
    return [made.result for made in store.attempts(run_id, positions, traces=False)]


def planned(count):
    return [
        PlannedCase(
            position=position,
            suite="suite",
            agent=None if position % 2 else "agent",
            case=f"case {position}",
            tags=("quick",) if position % 3 else (),
        )
        for position in range(count)
    ]


def run(number=1, count=3, **fields):
    """The run with that number; each starts a minute after the one before."""
    given = {
        "id": f"20260504-12{number:02d}00-aaa{number % 10}",
        "spec": "spec.yaml",
        "spec_key": "/somewhere/spec.yaml",
        "created_at": NOON + timedelta(minutes=number),
        "planned": count,
        "trialrun": "1.2.3",
        **fields,
    }
    return RunRecord(**given)


def attempt(position=0, number=1, status=LayerStatus.PASS, **fields):
    check = CheckResult("expected_in_answer", CheckStatus.PASS, Severity.FAIL, "every term")
    result = EvaluationResult(
        case_name=f"case {position}",
        suite_name="suite",
        status=status,
        attempt=number,
        layers={"correctness": LayerResult(LayerStatus.PASS, (check,))},
        metrics=[MetricResult("step_count", 2.0, "steps", {"tools": ["search"]})],
        **{"cost_usd": 0.25, "total_tokens": 120, "duration_ms": 8.5, "tags": ("quick",), **fields},
    )
    trace = Trace(
        id=f"t{position}",
        input="What is the refund policy?",
        output="Thirty days.",
        steps=[
            Step.tool_call("search", {"q": "refunds"}, ["30 days"], duration_ms=4),
            Step.llm_call("a-model", "in", "out", cost_usd=0.25),
        ],
        started_at=NOON,
    )
    return Attempt(position=position, attempt=number, result=result, trace=trace)


def record_run(store, number=1, count=3, **fields):
    """Record a run with one attempt for each case; return its id."""
    made = run(number, count, **fields)
    store.create_run(made, planned(count))
    store.add(made.id, [attempt(position) for position in range(count)], no_redaction)
    return made.id


def start(program, *arguments):
    """Start a Python process that runs the program; it can use the names of this module."""
    prelude = "import sys\nfrom tests.store.samples import *\nfrom trialrun.store import *\n"
    return subprocess.Popen(
        [sys.executable, "-c", prelude + textwrap.dedent(program), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output_of(process):
    """What the process printed; the test fails if its exit code is not 0."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out
