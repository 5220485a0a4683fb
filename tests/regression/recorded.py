"""Recorded runs of tau-bench, judged by the passing runs of the same task."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from trialrun import EvalCase, Step, Trace, evaluate
from trialrun.engine.baseline_rules import propose
from trialrun.model.baseline import Baseline
from trialrun.model.results import CheckStatus

GATE = {"same_calls": True, "same_arguments": True, "same_order": True, "same_errors": True}


def passed(run: Any) -> bool:
    """Whether the run reached its goal."""
    return bool(run["reward"] == 1)


def judged(
    tasks: Sequence[Sequence[Any]], any_number: Sequence[str]
) -> Iterator[tuple[Any, list[str]]]:
    """Each run that has a baseline, and what the gate says of it; nothing if it passes."""
    asked = GATE | ({"any_number": list(any_number)} if any_number else {})
    for runs in tasks:
        for run in runs:
            others = [trace_of(one) for one in runs if one is not run and passed(one)]
            if not others:
                continue
            trace = trace_of(run)
            case = EvalCase.from_dict({"query": trace.input, "regression": asked})
            checks = evaluate(case, trace, baseline_of(others)).layers["regression"].checks
            yield run, [check.message for check in checks if check.status is not CheckStatus.PASS]


def baseline_of(traces: Sequence[Trace]) -> Baseline:
    """The baseline that `baseline save` makes of these runs."""
    fields = {name: getattr(traces[0], name) for name in Trace.__struct_fields__}
    return Baseline(**fields, repeats=tuple(traces[1:]), rules=propose(traces))


def trace_of(run: Any) -> Trace:
    """A recorded run: OpenAI messages, in which each call is followed by its result.

    The ids of calls are used again in a run, so they do not tell which result belongs to which.
    """
    steps: list[Step] = []
    answer = ""
    messages = run["traj"]
    for message, after in zip(messages, [*messages[1:], {}], strict=True):
        if message["role"] != "assistant":
            continue
        steps.append(Step.llm_call("gpt-4o"))
        answer = message.get("content") or answer
        for call in message.get("tool_calls") or ():
            function, result = call["function"], str(after.get("content"))
            failed = result if result.startswith("Error") else None
            arguments = json.loads(function["arguments"])
            steps.append(Step.tool_call(function["name"], arguments, result, error=failed))
    return Trace(input=run["info"]["task"]["instruction"], output=answer, steps=steps)
