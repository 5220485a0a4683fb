"""One attempt in full: question, steps, answer, and the result of every check and metric."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import msgspec

from trialrun.model.behaviour import error_of
from trialrun.model.results import CheckResult, EvaluationResult, LayerStatus
from trialrun.model.trace import Step, StepType, Trace
from trialrun.reports.terminal import figures, headline
from trialrun.reports.views.consoles import Console, Line
from trialrun.reports.views.paths import path_text
from trialrun.reports.views.printable import lines
from trialrun.reports.views.reasons import CHECK_STYLES, STYLES, step_text, with_unit
from trialrun.reports.views.wording import status_word
from trialrun.util.money import dollars

_LONGEST_VALUE = 300
_MOST_LINES = 200


def render(
    result: EvaluationResult, trace: Trace | None, colour: bool = False, width: int | None = None
) -> str:
    """The attempt as text for a terminal."""
    console = Console(colour, width)
    for line, style in _lines(result, trace):
        console.print(Line(lines(line, "    | ", _MOST_LINES), style))
    return console.out.getvalue()


def _lines(result: EvaluationResult, trace: Trace | None) -> Iterator[tuple[str, str]]:
    """Each line with its style."""
    yield f"{headline(result)}  {figures(result)}".rstrip(), STYLES[result.status]
    if result.error:
        yield f"  error: {result.error}", STYLES[LayerStatus.ERROR]
    if result.tries:
        yield f"  {result.tries}", ""
    if trace is None:
        yield "  no trace is recorded", ""
    else:
        yield from ((line, "") for line in (*_turns(trace), *_notes(trace.metadata)))
    for call in result.failed_calls:
        yield f"  tool call · {call} (step {call.step})", "yellow"
    for layer, check in result.checks():
        yield from _check(layer, check)
    for metric in result.metrics:
        why = f"error: {metric.error}" if metric.error else with_unit(metric)
        yield f"  metrics · {metric.metric_name} {why}", "dim"


def _check(layer: str, check: CheckResult) -> Iterator[tuple[str, str]]:
    turn = f" turn {check.turn}" if check.turn else ""
    word = status_word(check)
    word = word.upper() if word == "fail" else word
    style = CHECK_STYLES.get(check.status, "dim")
    yield f"  {layer}{turn} · {check.name} {word}: {check.message}{step_text(check)}", style
    if path := path_text(check, str):
        yield f"    path:  {path}", style


def _turns(trace: Trace) -> Iterator[str]:
    """What was asked, done and answered; in a conversation, turn by turn."""
    turns = trace.turns()
    asked = sum(step.type is StepType.HUMAN_INPUT for step in trace.steps)
    # Some recorders repeat the input as the first step: it begins no turn.
    steps = iter(trace.steps[1:] if asked == len(turns) else trace.steps)
    for number, turn in enumerate(turns, 1):
        name = f"turn {number} " if len(turns) > 1 else ""
        yield f"  {name}asked: {turn.input}"
        for step in takewhile(lambda step: step.type is not StepType.HUMAN_INPUT, steps):
            yield f"    {_step(step)}"
        yield f"  {name}answered: {'–' if turn.output is None else turn.answer_text}"


def _step(step: Step) -> str:
    if step.type is StepType.TOOL_CALL:
        arguments = ", ".join(
            f"{key}={_value(item)}" for key, item in (step.tool_args or {}).items()
        )
        reason = error_of(step)
        failed = "" if reason is None else f" failed: {step.error or reason}"
        return f"{step.id} {step.tool_name}({arguments}) → {_value(step.tool_result)}{failed}"
    if step.type is StepType.LLM_CALL:
        tokens = f" {step.tokens.total_tokens:,} tokens" if step.tokens is not None else ""
        cost = f" {dollars(step.cost_usd)}" if step.cost_usd is not None else ""
        return f"{step.id} model {step.model or ''}{tokens}{cost}: {_value(step.output)}"
    text = step.reasoning_text or step.handoff_to or step.input or step.output or ""
    return f"{step.id} {step.type.value}: {_value(text)}"


def _notes(metadata: dict[str, Any]) -> Iterator[str]:
    if metadata.get("printed"):
        yield f"  printed:\n{metadata['printed']}"
    for key in ("state", "teardown_failed", "notes"):
        if metadata.get(key):
            yield f"  {key.replace('_', ' ')}: {_value(metadata[key], 2000)}"


def _value(value: Any, longest: int = _LONGEST_VALUE) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=repr).decode()
    return text if len(text) <= longest else f"{text[:longest]}…"
