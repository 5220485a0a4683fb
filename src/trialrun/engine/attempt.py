"""Run one attempt at one case with a live agent, and return its trace.

A crash, a timeout and a failed setup are facts of the run like an answer: each ends in a trace.
Only failures of the infrastructure are retried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun.agents.base import Agent, Failure, Question, Reply
from trialrun.agents.running.actions import Actions
from trialrun.errors import TraceError
from trialrun.model.case import EvalCase
from trialrun.model.results import NO_CRASH
from trialrun.model.trace import (
    ANSWERED,
    EVIDENCE,
    RECORDED,
    SETUP_FAILED,
    TIMINGS,
    Step,
    Trace,
    TraceStatus,
)
from trialrun.model.trace_format import from_plain
from trialrun.util.retries import pause

_MANY_STEPS = 2_000
"""Steps from which on a trace is read in a thread: it takes long, and other cases would wait."""

_NO_ANSWER = "the agent gave no answer"
_RESERVED_METADATA = frozenset(
    {"state", "tries", "teardown_failed", SETUP_FAILED, RECORDED, NO_CRASH}
    | {"printed", "notes", "last_turn_ms"}
)
"""Metadata keys that the run itself writes; an agent's own values get another key."""


class AttemptSettings(Struct, kw_only=True, frozen=True):
    """How to ask an agent: time limit, retries, and what to do around it."""

    agent: Agent
    agent_name: str | None
    actions: Actions
    suite_name: str
    limit: float
    retries: int
    keeps_folders: bool = False


async def run_attempt(case: EvalCase, settings: AttemptSettings) -> Trace:
    """Ask the agent, with retries after infrastructure failures; the trace of the last try."""
    tries: list[dict[str, Any]] = []
    while True:
        started_at = datetime.now(UTC)
        trace, failure = await _try(case, settings)
        wait = pause(len(tries), failure.retry_after) if failure and failure.transient else None
        if wait is None or len(tries) >= settings.retries:
            break
        assert failure is not None
        tries.append({"error": failure.message, "waited_s": round(wait, 3)})
        await asyncio.sleep(wait)
    if tries:
        trace.metadata["tries"] = tries
        if failure is not None:
            trace.error = f"{trace.error} (tried {len(tries) + 1} times)"
    trace.name = case.name
    trace.agent_name = settings.agent_name or trace.agent_name
    if trace.started_at is None:
        trace.started_at = started_at
    return trace


async def _try(case: EvalCase, settings: AttemptSettings) -> tuple[Trace, Failure | None]:
    if not (case.setup or case.teardown or case.state):
        return await _converse(case, settings, None)
    actions = settings.actions
    try:
        folder = actions.new_folder()
    except OSError as error:
        failure = Failure(message=f"no working folder can be made: {error.strerror}")
        return _failed(case, failure, []), failure
    trace: Trace | None = None
    try:
        trace, failed = await _converse_in_folder(case, settings, folder)
        return trace, failed
    finally:
        # Runs after a failed setup too, and when the run is stopped in the middle.
        if case.teardown is not None:
            problem = await actions.perform(case.teardown, folder, settings.limit)
            if problem is not None and trace is not None:
                trace.metadata["teardown_failed"] = problem
        if not settings.keeps_folders:
            actions.remove_folder(folder)


async def _converse_in_folder(
    case: EvalCase, settings: AttemptSettings, folder: str
) -> tuple[Trace, Failure | None]:
    """Run the setup, ask the agent, then check the conditions of `state`."""
    if case.setup is not None:
        problem = await settings.actions.perform(case.setup, folder, settings.limit)
        if problem is not None:
            unprepared = Failure(message=problem)
            return _trace_without_answer(
                case.input, unprepared, 0.0, {SETUP_FAILED: True}
            ), unprepared
    trace, failure = await _converse(case, settings, folder)
    if case.state and failure is None:
        trace.metadata["state"] = await settings.actions.inspect(
            case.state, folder, settings.limit, trace.output
        )
    return trace, failure


async def _converse(
    case: EvalCase, settings: AttemptSettings, folder: str | None
) -> tuple[Trace, Failure | None]:
    """Ask the question, or each turn in order with the conversation before it."""
    about = {"name": case.name, "suite": settings.suite_name, "tags": list(case.tags)}
    history: list[dict[str, str]] = []
    parts: list[Trace] = []
    left = settings.limit
    questions = [turn.query for turn in case.turns] or [case.query]
    for text in questions:
        question = Question(input=text, history=history, case=about, folder=folder)
        reply = await settings.agent.ask(question, left)
        left = max(left - reply.duration_ms / 1000, 0.001)
        steps = reply.answer.get("steps") if reply.answer else None
        many = isinstance(steps, list) and len(steps) > _MANY_STEPS
        part, failure = (
            await asyncio.to_thread(_turn_trace, text, reply) if many else _turn_trace(text, reply)
        )
        if failure is not None:
            if len(questions) > 1:
                failure.message = f"turn {len(parts) + 1}: {failure.message}"
            return _failed(case, failure, [*parts, part]), failure
        parts.append(part)
        history = [
            *history,
            {"role": "user", "content": text},
            {"role": "assistant", "content": part.answer_text or ""},
        ]
    return (parts[0] if len(parts) == 1 else _join_turns(parts)), None


def _turn_trace(question: str, reply: Reply) -> tuple[Trace, Failure | None]:
    """The trace of one turn, and a failure if it has no answer."""
    printed = {"printed": reply.printed} if reply.printed else {}
    if reply.failure is not None:
        return _trace_without_answer(
            question, reply.failure, reply.duration_ms, printed
        ), reply.failure
    answer = reply.answer
    assert answer is not None
    if answer.keys() == {"output"} and isinstance(answer["output"], str):
        trace = Trace(
            input=question,
            output=answer["output"],
            duration_ms=reply.duration_ms,
            metadata=printed,
        )
        return trace, None
    try:
        trace, notes = from_plain({**answer, "input": question})
    except TraceError as error:
        failure = Failure(message=f"the agent's answer is not a valid trace: {error}")
        return _trace_without_answer(question, failure, reply.duration_ms, printed), failure
    if notes:
        printed["notes"] = "; ".join(notes)
    # The agent must not write metadata that the run trusts: a `state` of its own would pass later.
    renamed = {
        f"agent_{key}" if key in _RESERVED_METADATA else key: item
        for key, item in trace.metadata.items()
    }
    trace.metadata = {**renamed, **printed}
    trace.duration_ms = reply.duration_ms
    if TIMINGS not in trace.recorded:  # the agent's list leaves out what the run measured
        trace.recorded |= {TIMINGS}
    crashed = trace.status in (TraceStatus.ERROR, TraceStatus.TIMEOUT)
    if crashed or trace.output is None or trace.error:  # an error beside an answer is an error
        said = f"the agent reported an error: {trace.error}" if trace.error else _NO_ANSWER
        failure = Failure(message=said, status=trace.status)
        trace.metadata |= _about(failure)
        if not crashed and trace.output is not None:
            failure.message = trace.error or said  # as in a file: `evaluate` says what it is
        return trace, failure
    return trace, None


def _trace_without_answer(
    question: str, failure: Failure, duration_ms: float, metadata: dict[str, Any]
) -> Trace:
    return Trace(
        input=question,
        status=failure.status,
        error=failure.message,
        duration_ms=duration_ms,
        metadata={**metadata, **_about(failure)},
    )


def _about(failure: Failure) -> dict[str, Any]:
    """Metadata that keeps a report from calling the failure a crash."""
    is_error = failure.status is TraceStatus.ERROR
    return {NO_CRASH: True} if is_error and not failure.crashed else {}


def _failed(case: EvalCase, failure: Failure, parts: Sequence[Trace]) -> Trace:
    """The trace of a case without an answer; it holds what the agent did until it failed."""
    if not parts:
        return _trace_without_answer(case.input, failure, 0.0, {})
    trace = parts[0] if len(parts) == 1 else _join_turns(parts)
    if failure.message != _NO_ANSWER or trace.status is not TraceStatus.SUCCESS:
        trace.error = failure.message
    return trace


def _join_turns(parts: Sequence[Trace]) -> Trace:
    """One trace of a conversation: a `human_input` step, with the answer before, begins a turn."""
    steps = _steps_of_turn(parts[0], 1)
    for number, (before, part) in enumerate(pairwise(parts), 2):
        before_turn = {
            ANSWERED: before.answer_text,
            "duration_ms": before.duration_ms,
            RECORDED: sorted(before.recorded),
        }
        steps.append(Step.human_input(part.input, metadata=before_turn))
        steps += _steps_of_turn(part, number)
    recorded = EVIDENCE
    metadata: dict[str, Any] = {}
    for part in parts:
        recorded &= part.recorded
        for key, value in part.metadata.items():
            together = isinstance(value, str) and isinstance(metadata.get(key), str)
            metadata[key] = f"{metadata[key]}\n{value}" if together else value
    last = parts[-1]
    metadata["last_turn_ms"] = last.duration_ms
    metadata[RECORDED] = sorted(last.recorded)
    return Trace(
        input=parts[0].input,
        output=last.output,
        status=last.status,
        error=last.error or _first_error(parts),
        steps=steps,
        duration_ms=sum(part.duration_ms or 0 for part in parts),
        recorded=recorded,
        framework=last.framework,
        metadata=metadata,
    )


def _first_error(parts: Sequence[Trace]) -> str | None:
    """The error that the agent reported beside the answer of an earlier turn."""
    found = (f"turn {n}: {part.error}" for n, part in enumerate(parts, 1) if part.error)
    return next(found, None)


def _steps_of_turn(part: Trace, number: int) -> list[Step]:
    """The steps of a turn, their ids prefixed: each turn numbers its steps from the start."""
    return [
        replace(
            step,
            id=f"{number}.{step.id}",
            parent_id=None if step.parent_id is None else f"{number}.{step.parent_id}",
        )
        for step in part.steps
    ]
