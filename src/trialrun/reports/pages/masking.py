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

    `clean` says that the trace has nothing to mask. Each check is masked apart: words such as
    "tokens" in a message call for a closer look, which is slow over all of an attempt.
    """
    # The trace has question and answer in full.
    question, answer = (None, None) if trace is not None else (result.question, result.answer)
    turns = [[turn.question, turn.answer] for turn in result.turns]
    names = result.case_name, result.suite_name, result.agent, list(result.tags)
    failed_calls = [str(call) for call in result.failed_calls]
    checks = list(result.checks())
    texts, metrics, *found = _shown(
        [
            (*names, result.error, result.tries, failed_calls, question, answer, turns),
            tuple((one.metric_name, one.error) for one in result.metrics),
            *(_texts_of_check(check) for _, check in checks),
        ],
        redactor,
    )
    shown, clean = (None, True) if trace is None else _trace(trace, redactor)
    return {
        **dict(zip(_FIELDS, texts, strict=True)),
        "checks": [
            {"layer": layer, "name": name, "message": message, "data": data, "verdicts": verdicts}
            for (layer, _), (name, message, data, verdicts) in zip(checks, found, strict=True)
        ],
        "metrics": metrics,
        "trace": shown,
        "clean": clean,
    }


_FIELDS = (
    "case", "suite", "agent", "tags", "error", "tries", "failed_calls",
    "question", "answer", "turns",
)  # fmt: skip


def _texts_of_check(check: CheckResult) -> tuple[Any, ...]:
    votes = msgspec.to_builtins(check.verdicts) if check.verdicts else ()
    return check.name, check.message, check.data, votes


def _shown(values: list[tuple[Any, ...]], redactor: Redactor) -> list[tuple[Any, ...]]:
    """The values masked; a look at all of each at once is enough for nearly all of them."""
    clean = redactor.clean(values)
    pairs = zip(values, clean, strict=True)
    return [value if known else redactor.plain(value) for value, known in pairs]


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
    if redactor.clean([all_of_it]) == [True] or redactor.plain(all_of_it) is all_of_it:
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
