"""One attempt at one case with a live agent: from the question to the trace.

Whatever happens ends in a trace: a crash, a timeout, a world that could not be prepared are facts
of the run like an answer. Only what is nobody's verdict on the agent is tried again.
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
from trialrun.model.trace import (
    ANSWERED,
    COSTS,
    EVIDENCE,
    RECORDED,
    TIMINGS,
    TOKENS,
    UNPREPARED,
    Step,
    Trace,
    TraceStatus,
)
from trialrun.model.trace_format import from_plain
from trialrun.util.retries import pause

_ONLY_TIMINGS = frozenset({TIMINGS})
_NO_ANSWER = "the agent gave no answer"
_OURS = frozenset(
    {"state", "tries", "teardown_failed", UNPREPARED, RECORDED}
    | {"printed", "notes", "last_turn_ms"}
)
"""What a run itself writes into the metadata of a trace."""


class Asking(Struct, kw_only=True, frozen=True):
    """How an agent is asked: through what, for how long, how often again."""

    agent: Agent
    agent_name: str | None
    actions: Actions
    suite_name: str
    limit: float
    retries: int
    keeps_folders: bool = False


async def run_attempt(case: EvalCase, asking: Asking) -> Trace:
    """Ask the agent, again where only the infrastructure failed; the trace of the last try."""
    tries: list[dict[str, Any]] = []
    while True:
        started_at = datetime.now(UTC)
        trace, failure = await _try(case, asking)
        wait = pause(len(tries), failure.retry_after) if failure and failure.transient else None
        if wait is None or len(tries) >= asking.retries:
            break
        assert failure is not None
        tries.append({"error": failure.message, "waited_s": round(wait, 3)})
        await asyncio.sleep(wait)
    if tries:
        trace.metadata["tries"] = tries
        if failure is not None:
            trace.error = f"{trace.error} (tried {len(tries) + 1} times)"
    trace.name = case.name
    trace.agent_name = asking.agent_name or trace.agent_name
    if trace.started_at is None:
        trace.started_at = started_at
    return trace


async def _try(case: EvalCase, asking: Asking) -> tuple[Trace, Failure | None]:
    if not (case.setup or case.teardown or case.state):
        return await _converse(case, asking, None)
    actions = asking.actions
    try:
        folder = actions.new_folder()
    except OSError as error:
        failure = Failure(message=f"no working folder can be made: {error.strerror}")
        return _failed(case, failure, []), failure
    trace: Trace | None = None
    try:
        trace, failed = await _in_folder(case, asking, folder)
        return trace, failed
    finally:
        # Also after a failed setup, and where the run is stopped meanwhile.
        if case.teardown is not None:
            problem = await actions.perform(case.teardown, folder, asking.limit)
            if problem is not None and trace is not None:
                trace.metadata["teardown_failed"] = problem
        if not asking.keeps_folders:
            actions.remove_folder(folder)


async def _in_folder(case: EvalCase, asking: Asking, folder: str) -> tuple[Trace, Failure | None]:
    """Prepare the world, ask the agent, look at what it left behind."""
    if case.setup is not None:
        problem = await asking.actions.perform(case.setup, folder, asking.limit)
        if problem is not None:
            unprepared = Failure(message=problem)
            return _silent(case.input, unprepared, 0.0, {UNPREPARED: True}), unprepared
    trace, failure = await _converse(case, asking, folder)
    if case.state and failure is None:
        trace.metadata["state"] = await asking.actions.inspect(
            case.state, folder, asking.limit, trace.output
        )
    return trace, failure


async def _converse(
    case: EvalCase, asking: Asking, folder: str | None
) -> tuple[Trace, Failure | None]:
    """Ask the question, or one turn after the other with what was said before."""
    about = {"name": case.name, "suite": asking.suite_name, "tags": list(case.tags)}
    history: list[dict[str, str]] = []
    parts: list[Trace] = []
    left = asking.limit
    questions = [turn.query for turn in case.turns] or [case.query]
    for text in questions:
        question = Question(input=text, history=history, case=about, folder=folder)
        reply = await asking.agent.ask(question, left)
        left = max(left - reply.duration_ms / 1000, 0.001)
        part, failure = _part(text, reply)
        if failure is not None:
            if len(questions) > 1:
                failure.message = f"turn {len(parts) + 1}: {failure.message}"
            return _failed(case, failure, [*parts, part]), failure
        parts.append(part)
        history = [
            *history,
            {"role": "user", "content": text},
            {"role": "assistant", "content": part.output or ""},
        ]
    return (parts[0] if len(parts) == 1 else _joined(parts)), None


def _part(question: str, reply: Reply) -> tuple[Trace, Failure | None]:
    """The trace of one turn; a failure where it has no answer."""
    printed = {"printed": reply.printed} if reply.printed else {}
    if reply.failure is not None:
        return _silent(question, reply.failure, reply.duration_ms, printed), reply.failure
    answer = reply.answer
    assert answer is not None
    if answer.keys() == {"output"} and isinstance(answer["output"], str):
        trace = Trace(
            input=question,
            output=answer["output"],
            duration_ms=reply.duration_ms,
            recorded=_ONLY_TIMINGS,
            metadata=printed,
        )
        return trace, None
    try:
        trace, notes = from_plain({**answer, "input": question})
    except TraceError as error:
        failure = Failure(message=f"the agent's answer is no trace: {error}")
        return _silent(question, failure, reply.duration_ms, printed), failure
    if notes:
        printed["notes"] = "; ".join(notes)
    # What an agent writes must not pass for what we have seen: a `state` would be green later.
    told = {f"agent_{key}" if key in _OURS else key: item for key, item in trace.metadata.items()}
    trace.metadata = {**told, **printed}
    trace.duration_ms = reply.duration_ms
    recorded = trace.recorded | _ONLY_TIMINGS
    if "recorded" not in answer and not trace.llm_calls:
        # Steps without a model call do not say what the models cost: that is not $0.
        recorded -= {TOKENS, COSTS}
    trace.recorded = recorded
    if trace.status in (TraceStatus.ERROR, TraceStatus.TIMEOUT) or trace.output is None:
        failure = Failure(message=trace.error or _NO_ANSWER, status=trace.status)
        return trace, failure
    return trace, None


def _silent(question: str, failure: Failure, duration_ms: float, metadata: dict[str, Any]) -> Trace:
    return Trace(
        input=question,
        status=failure.status,
        error=failure.message,
        duration_ms=duration_ms,
        recorded=_ONLY_TIMINGS,
        metadata=metadata,
    )


def _failed(case: EvalCase, failure: Failure, parts: Sequence[Trace]) -> Trace:
    """The trace of a case that ended without an answer; what was done until then is in it."""
    if not parts:
        return _silent(case.input, failure, 0.0, {})
    trace = parts[0] if len(parts) == 1 else _joined(parts)
    if failure.message != _NO_ANSWER or trace.status is not TraceStatus.SUCCESS:
        trace.error = failure.message
    return trace


def _joined(parts: Sequence[Trace]) -> Trace:
    """One trace of a conversation: `human_input` opens each turn and says what was answered."""
    steps = _of_turn(parts[0], 1)
    for number, (before, part) in enumerate(pairwise(parts), 2):
        told = {
            ANSWERED: before.output,
            "duration_ms": before.duration_ms,
            RECORDED: sorted(before.recorded),
        }
        steps.append(Step.human_input(part.input, metadata=told))
        steps += _of_turn(part, number)
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
        error=last.error,
        steps=steps,
        duration_ms=sum(part.duration_ms or 0 for part in parts),
        recorded=recorded,
        framework=last.framework,
        metadata=metadata,
    )


def _of_turn(part: Trace, number: int) -> list[Step]:
    """The steps of a turn: their ids were given turn by turn, and would meet in one trace."""
    return [
        replace(
            step,
            id=f"{number}.{step.id}",
            parent_id=None if step.parent_id is None else f"{number}.{step.parent_id}",
        )
        for step in part.steps
    ]
