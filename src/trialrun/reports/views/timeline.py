"""A trace as a timeline: what was asked, each step with its time, what was answered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from trialrun.model.behaviour import error_of, short_text
from trialrun.model.fidelity import Fidelity
from trialrun.model.steps import Step, StepType
from trialrun.model.trace import Trace
from trialrun.reports.views.printable import lines
from trialrun.util.money import dollars
from trialrun.util.texts import excerpt

_LONGEST = 100
STEP_WORDS = {
    StepType.LLM_CALL: "model",
    StepType.TOOL_CALL: "call",
    StepType.REASONING: "thinks",
    StepType.HUMAN_INPUT: "user",
    StepType.HANDOFF: "handoff",
    StepType.RETRIEVAL: "search",
    StepType.GUARDRAIL: "guard",
}


def render(trace: Trace, verbose: bool = False) -> str:
    """The trace as text for a terminal; `verbose` shows texts whole."""
    most = 10_000 if verbose else 40
    return "\n".join(lines(line, "      | ", most) for line in _lines(trace, verbose)) + "\n"


def _lines(trace: Trace, verbose: bool) -> Iterator[str]:
    yield trace.name or trace.id or "a trace without a name"
    report = Fidelity()
    report.add(trace)
    for line in report.lines():
        yield f"  {line}"
    unfinished = trace.metadata.get("unfinished")
    if unfinished:
        yield f"  unfinished: {unfinished}"
    yield f"  user     {_text(trace.input, verbose)}"
    insets = depths(trace.steps)
    start = next((step.timestamp for step in trace.steps if step.timestamp), trace.started_at)
    for step, depth in zip(trace.steps, insets, strict=True):
        inset = "  " * depth
        yield f"  {STEP_WORDS[step.type]:8} {inset}{_what(step, verbose)}{_figures(step, start)}"
    answer = "–" if trace.answer_text is None else _text(trace.answer_text, verbose)
    yield f"  answer   {answer}"


def depths(steps: Any) -> list[int]:
    """How deep each step lies below others, for the inset."""
    known: dict[str, int] = {}
    found = []
    for step in steps:
        depth = known.get(step.parent_id, -1) + 1 if step.parent_id else 0
        known[step.id] = depth
        found.append(min(depth, 8))
    return found


def _what(step: Step, verbose: bool) -> str:
    if step.type is StepType.TOOL_CALL:
        given = ", ".join(
            f"{name}: {_value(item, verbose)}" for name, item in (step.tool_args or {}).items()
        )
        known = "…" if step.tool_args is None else given
        error = error_of(step)
        result = "" if step.tool_result is None else f" → {_value(step.tool_result, verbose)}"
        return f"{step.tool_name}({known}){result if error is None else f' failed: {error}'}"
    if step.type is StepType.LLM_CALL:
        said = f": {_text(step.output, verbose)}" if step.output else ""
        return f"{step.model or ''}{said}"
    if step.type is StepType.RETRIEVAL:
        return f"{_text(step.input or '', verbose)} → {_value(step.tool_result, verbose)}"
    text = step.reasoning_text or step.handoff_to or step.input or step.output or step.tool_name
    return _text(text or "", verbose)


def _figures(step: Step, start: datetime | None) -> str:
    parts = []
    if step.tokens is not None:
        parts.append(f"{step.tokens.total_tokens:,} tokens")
    if step.cost_usd is not None:
        parts.append(dollars(step.cost_usd))
    if step.duration_ms is not None:
        parts.append(f"{step.duration_ms / 1000:,.1f} s")
    if step.timestamp is not None and start is not None:
        parts.append(f"at {(step.timestamp - start).total_seconds():+,.1f} s")
    agent = step.metadata.get("agent") or step.metadata.get("subagent")
    if agent:
        parts.append(f"by {agent}")
    return f"  [{' · '.join(parts)}]" if parts else ""


def _text(text: str, verbose: bool) -> str:
    return text if verbose else excerpt(text, _LONGEST)


def _value(value: Any, verbose: bool) -> str:
    if verbose:
        return value if isinstance(value, str) else short_text(value)
    return short_text(value)
