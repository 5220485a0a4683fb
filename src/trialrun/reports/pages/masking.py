"""The texts of an attempt with secrets masked, all in one pass: keys like `password` count, too."""

from __future__ import annotations

from typing import Any

import msgspec

from trialrun.model.results import CheckResult, EvaluationResult
from trialrun.model.steps import Step
from trialrun.model.trace import Trace
from trialrun.redaction import Redactor


def masked(result: EvaluationResult, trace: Trace | None, redactor: Redactor) -> dict[str, Any]:
    """What a page shows of an attempt, as plain values.

    `clean` says that the trace has nothing to mask. The result is masked apart from it: words such
    as "tokens" in messages call for a closer look, which is slow over a whole trace.
    """
    plain = {
        "case": result.case_name,
        "suite": result.suite_name,
        "agent": result.agent,
        "tags": list(result.tags),
        "error": result.error,
        "tries": result.tries,
        # The trace has both in full.
        "question": None if trace is not None else result.question,
        "answer": None if trace is not None else result.answer,
        "turns": [[turn.question, turn.answer] for turn in result.turns],
        "checks": [_check(layer, check) for layer, check in result.checks()],
        "metrics": [[metric.metric_name, metric.error] for metric in result.metrics],
    }
    found: dict[str, Any] = redactor.plain(plain)
    given = None if trace is None else _trace(trace)
    shown = None if given is None else redactor.plain(given)
    return {**found, "trace": shown, "clean": shown is given}


def _check(layer: str, check: CheckResult) -> dict[str, Any]:
    return {
        "layer": layer,
        "name": check.name,
        "message": check.message,
        "data": check.data,
        "verdicts": msgspec.to_builtins(check.verdicts),
    }


def _trace(trace: Trace) -> dict[str, Any]:
    metadata = trace.metadata
    return {
        "input": trace.input,
        "answer": trace.answer_text,
        "error": trace.error,
        "steps": [_step(step) for step in trace.steps],
        "printed": metadata.get("printed"),
        "unfinished": metadata.get("unfinished"),
        "notes": metadata.get("notes"),
    }


def _step(step: Step) -> dict[str, Any]:
    noted = step.metadata
    found = {
        "model": step.model,
        "input": step.input,
        "output": step.output,
        "tool_name": step.tool_name,
        "tool_args": step.tool_args,
        "tool_result": step.tool_result,
        "reasoning_text": step.reasoning_text,
        "handoff_to": step.handoff_to,
        "error": step.error,
        "by": None,
    }
    if noted:
        found["by"] = noted.get("agent") or noted.get("subagent")
    return found
