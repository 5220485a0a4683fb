"""The texts of an attempt with secrets masked, all in one pass: keys like `password` count, too."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec
from msgspec.structs import replace

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
    shown, clean = (None, True) if trace is None else _trace(trace, redactor)
    return {**found, "trace": shown, "clean": clean}


def _check(layer: str, check: CheckResult) -> dict[str, Any]:
    return {
        "layer": layer,
        "name": check.name,
        "message": check.message,
        "data": check.data,
        "verdicts": msgspec.to_builtins(check.verdicts) if check.verdicts else (),
    }


_TEXTS = (
    "model",
    "input",
    "output",
    "tool_name",
    "tool_args",
    "tool_result",
    "reasoning_text",
    "handoff_to",
    "error",
)
texts_of_step = attrgetter(*_TEXTS)


def _trace(trace: Trace, redactor: Redactor) -> tuple[dict[str, Any], bool]:
    """The texts of a trace with its steps, and whether there was nothing to mask."""
    noted = trace.metadata
    texts = {
        "input": trace.input,
        "answer": trace.answer_text,
        "error": trace.error,
        "printed": noted.get("printed"),
        "unfinished": noted.get("unfinished"),
        "notes": noted.get("notes"),
    }
    # One look at all of it first, in the order of the trace: most traces hold no secret.
    all_of_it: list[Any] = [texts]
    for step in trace.steps:
        all_of_it.append(texts_of_step(step))
        if step.metadata:
            all_of_it.append(by_whom(step))
    if redactor.is_clean(all_of_it) or redactor.plain(all_of_it) is all_of_it:
        return {**texts, "steps": trace.steps}, True
    steps = [_masked_step(step, redactor) for step in trace.steps]
    return {**redactor.plain(texts), "steps": steps}, False


def by_whom(step: Step) -> Any:
    """The agent that made the step, where a trace has several."""
    return step.metadata.get("agent") or step.metadata.get("subagent")


def _masked_step(step: Step, redactor: Redactor) -> Step:
    given = {name: getattr(step, name) for name in _TEXTS}
    given["by"] = by_whom(step) if step.metadata else None
    found = redactor.plain(given)
    if found is given:
        return step
    by = found.pop("by")
    return replace(step, **found, metadata={"agent": by} if by else {})
