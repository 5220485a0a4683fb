"""Split the trace of a conversation into its turns."""

from __future__ import annotations

from typing import Any

from trialrun.model import evidence
from trialrun.model.steps import Step, StepType
from trialrun.model.trace import ANSWERED, RECORDED, Trace, TraceStatus
from trialrun.model.values import LARGEST_AMOUNT

_LLM_CALL = StepType.LLM_CALL
_HUMAN_INPUT = StepType.HUMAN_INPUT


def of(trace: Trace) -> list[Trace]:
    """One trace for each turn: see `Trace.turns`."""
    segments: list[tuple[str, list[Step]]] = [(trace.input, [])]
    closings: list[dict[str, Any]] = []  # metadata of the step after each turn but the last
    for position, step in enumerate(trace.steps):
        if step.type is _HUMAN_INPUT:
            # Some recorders repeat the input as the first step.
            if position == 0 and step.input == trace.input:
                continue
            segments.append((step.input or "", []))
            closings.append(step.metadata)
        else:
            segments[-1][1].append(step)
    turns = []
    for number, (question, steps) in enumerate(segments):
        last = number == len(segments) - 1
        closing = {} if last else closings[number]
        outputs = (step.output for step in reversed(steps) if step.type is _LLM_CALL)
        answer = closing.get(ANSWERED)
        if not isinstance(answer, str):
            answer = next((text for text in outputs if text), None)
        answer = trace.output if last else answer
        kinds = (trace.metadata if last else closing).get(RECORDED)
        turns.append(
            Trace(
                name=trace.name,
                input=question,
                output=answer,
                status=trace.status if last else TraceStatus.SUCCESS,
                error=trace.error if last else None,
                steps=steps,
                duration_ms=_turn_duration(trace, closing, number, len(segments)),
                recorded=evidence.of_turn(kinds, trace, steps, answer),
            )
        )
    return turns


def _turn_duration(trace: Trace, closing: dict[str, Any], number: int, turns: int) -> float | None:
    """How long a turn took; the last turn's duration is in the metadata of the trace."""
    recorded = closing.get("duration_ms")
    if isinstance(recorded, (int, float)) and 0 <= recorded <= LARGEST_AMOUNT:
        return recorded
    if turns == 1:
        return trace.duration_ms
    last = trace.metadata.get("last_turn_ms") if number == turns - 1 else None
    return last if isinstance(last, (int, float)) and 0 <= last <= LARGEST_AMOUNT else None
