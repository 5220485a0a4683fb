"""One attempt in full: question, steps, answer, and the result of every check and metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from trialrun.model.results import CheckStatus, EvaluationResult
from trialrun.model.trace import Step, StepType, Trace
from trialrun.reports.terminal import figures, headline, with_unit
from trialrun.reports.views.printable import one_line
from trialrun.util.money import dollars

_LONGEST_VALUE = 300
_WORDS = {CheckStatus.PASS: "pass", CheckStatus.FAIL: "FAIL", CheckStatus.UNKNOWN: "unknown"}


def render(result: EvaluationResult, trace: Trace | None) -> str:
    """The attempt as text for a terminal."""
    return "\n".join(map(one_line, _lines(result, trace))) + "\n"


def _lines(result: EvaluationResult, trace: Trace | None) -> Iterator[str]:
    yield f"{headline(result)}  {figures(result)}".rstrip()
    if result.error:
        yield f"  error: {result.error}"
    if trace is None:
        yield "  no trace is recorded"
    else:
        yield f"  asked: {trace.input}"
        for step in trace.steps:
            yield f"    {_step(step)}"
        yield f"  answered: {'–' if trace.output is None else trace.output}"
        yield from _notes(trace.metadata)
    for layer, check in result.checks():
        turn = f" turn {check.turn}" if check.turn else ""
        word = _WORDS.get(check.status, check.status.value)
        yield f"  {layer}{turn} · {check.name} {word}: {check.message}"
    for metric in result.metrics:
        yield f"  metrics · {metric.metric_name} {with_unit(metric)}"


def _step(step: Step) -> str:
    if step.type is StepType.TOOL_CALL:
        arguments = ", ".join(
            f"{key}={_value(item)}" for key, item in (step.tool_args or {}).items()
        )
        failed = f" failed: {step.error}" if step.error else ""
        return f"{step.id} {step.tool_name}({arguments}) → {_value(step.tool_result)}{failed}"
    if step.type is StepType.LLM_CALL:
        tokens = f" {step.tokens.total_tokens:,} tokens" if step.tokens is not None else ""
        cost = f" {dollars(step.cost_usd)}" if step.cost_usd is not None else ""
        return f"{step.id} model {step.model or ''}{tokens}{cost}: {_value(step.output)}"
    text = step.reasoning_text or step.handoff_to or step.input or step.output or ""
    return f"{step.id} {step.type.value}: {_value(text)}"


def _notes(metadata: dict[str, Any]) -> Iterator[str]:
    for key in ("printed", "tries", "state", "teardown_failed", "notes"):
        if metadata.get(key):
            yield f"  {key.replace('_', ' ')}: {_value(metadata[key], 2000)}"


def _value(value: Any, longest: int = _LONGEST_VALUE) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=repr).decode()
    return text if len(text) <= longest else f"{text[:longest]}…"
