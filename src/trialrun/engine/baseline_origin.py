"""Says where a run had another agent, model, prompt or set of tools than its baseline.

That alone is not a regression: people change these on purpose, and want to know what changed by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trialrun.model.baseline import repeats_of
from trialrun.model.case import EvalCase
from trialrun.model.steps import StepType
from trialrun.model.trace import Trace

_SHOWN = 5
_PROMPT_KEYS = ("system_prompt", "prompt", "instructions")
_SYSTEM_ROLES = ("system", "developer")


class UnlikeBaselines:
    """Collects the differences of a run, each once, with the number of cases that have it."""

    def __init__(self) -> None:
        self._cases: dict[str, set[str]] = {}

    def add(self, case: EvalCase, trace: Trace, baseline: Trace | None) -> None:
        """Note what the trace does not have in common with its baseline."""
        if baseline is not None:
            for text in differences(baseline, trace):
                self._cases.setdefault(text, set()).add(case.name)

    def update(self, found: Mapping[str, Iterable[str]]) -> None:
        """Note differences that were found elsewhere, with the cases that have them."""
        for text, cases in found.items():
            self._cases.setdefault(text, set()).update(cases)

    def lines(self) -> list[str]:
        """One line for each difference."""
        return [
            f"not as in the baseline: {text} ({_named(sorted(cases))}); this alone fails nothing"
            for text, cases in sorted(self._cases.items())
        ]


def _named(cases: Sequence[str]) -> str:
    return cases[0] if len(cases) == 1 else f"{len(cases)} cases"


def differences(baseline: Trace, trace: Trace) -> list[str]:
    """`model gpt-4o → gpt-4.1`, `another prompt`; nothing where one of the two says nothing."""
    found = []
    for kind, facts in _FACTS.items():
        known = [fact for repeat in repeats_of(baseline) if (fact := facts(repeat))]
        now = facts(trace)
        if not known or not now or now in known:
            continue
        if kind == "prompt":
            found.append("another prompt")
        else:
            found.append(f"{kind} {_listed(known[0])} → {_listed(now)}")
    return found


def _listed(names: frozenset[str]) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


# What a trace says about its agent; empty where it says nothing


def _agents(trace: Trace) -> frozenset[str]:
    return frozenset({trace.agent_name} if trace.agent_name else ())


def _models(trace: Trace) -> frozenset[str]:
    calls = (step for step in trace.steps if step.type is StepType.LLM_CALL)
    return frozenset(step.model for step in calls if step.model)


def _prompts(trace: Trace) -> frozenset[str]:
    """What the model was given in front of the question: noted in the metadata, else as input."""
    first = next((step for step in trace.steps if step.type is StepType.LLM_CALL), None)
    holders = [trace.metadata] if first is None else [trace.metadata, first.metadata]
    noted = [_text(holder.get(key)) for holder in holders for key in _PROMPT_KEYS]
    if any(noted) or first is None:
        return frozenset(noted) - {""}
    return frozenset(_of_system(first.input or "")) - {""}


def _of_system(given: str) -> Iterator[str]:
    """The system's messages if the input of a model call is a list of messages, else all of it."""
    try:
        messages = msgspec.json.decode(given) if given.startswith("[") else None
    except (ValueError, RecursionError):
        messages = None
    if not isinstance(messages, list):
        yield given
        return
    for message in messages:
        if isinstance(message, dict) and message.get("role") in _SYSTEM_ROLES:
            yield _text(message.get("content"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else repr(value)


def _tools(trace: Trace) -> frozenset[str]:
    """The tools that the model was offered, as far as `tools` in the metadata lists them."""
    holders = [trace.metadata, *(step.metadata for step in trace.steps)]
    found: set[str] = set()
    for holder in holders:
        offered = holder.get("tools")
        found.update(map(_tool_name, offered if isinstance(offered, list) else ()))
    return frozenset(found - {""})


def _tool_name(tool: Any) -> str:
    """`search` of `search`, `{name: search}` or `{type: function, function: {name: search}}`."""
    while isinstance(tool, dict):
        tool = tool.get("name") or tool.get("function")
    return tool if isinstance(tool, str) else ""


_FACTS: dict[str, Callable[[Trace], frozenset[str]]] = {
    "agent": _agents,
    "model": _models,
    "prompt": _prompts,
    "tools": _tools,
}
