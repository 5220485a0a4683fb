"""`span_assertions`: a field of every selected step is as asserted."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from trialrun.checks._masks import could_equal, found_outside_masks, occurs
from trialrun.checks.base import (
    Check,
    Text,
    check,
    fails,
    is_unknown,
    passes,
    require_pattern,
)
from trialrun.measures import patterns
from trialrun.measures.arguments import equal
from trialrun.measures.retrieval import strings
from trialrun.model.results import CheckResult
from trialrun.model.trace import (
    REASONING,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
    Step,
    StepType,
    Trace,
)
from trialrun.redaction import is_masked

Field = Literal[
    "tool_name",
    "tool_args",
    "tool_result",
    "input",
    "output",
    "model",
    "reasoning_text",
    "status",
    "error",
    "handoff_to",
]

_EVIDENCE = {
    "tool_result": TOOL_RESULTS,
    "tool_args": TOOL_ARGS,
    "reasoning_text": REASONING,
    StepType.REASONING: REASONING,
}


class Select(Struct, frozen=True, omit_defaults=True):
    """Selects steps by type and by name (of a tool or a model; globs are allowed)."""

    type: StepType | None = None
    name: Text | None = None


class Assertion(Struct, frozen=True, omit_defaults=True):
    """A condition on a field of each selected step."""

    select: Select
    field: Field
    contains: Text | None = None
    not_contains: Text | None = None
    regex: Text | None = None
    equals: Any = UNSET

    def __post_init__(self) -> None:
        asked = (self.contains, self.not_contains, self.regex)
        if self.equals is UNSET and all(term is None for term in asked):
            raise ValueError("asserts nothing: give contains, not_contains, regex or equals")
        if self.regex is not None:
            require_pattern(self.regex)


_SEARCH = Step.tool_call("search", {"q": "refund"}, "refund within 30 days")


@check(layer="path", needs={TOOL_CALLS})
class SpanAssertions(Check):
    """Fails when a selected step does not meet its assertion, or when no step is selected.

    `{select: {type: tool_call, name: search}, field: tool_result, contains: "refund"}`; also
    `not_contains`, `regex` and `equals`. All selected steps must meet the assertion. A value that
    is not text is searched as JSON.
    """

    assertions: Annotated[list[Assertion], Meta(min_length=1)]

    formula: ClassVar = "∀ assertion: ∃ selected step ∧ ∀ selected steps: it is met"
    when_passed: ClassVar = "every selected step is as asserted"
    examples: ClassVar = (
        passes(
            [{"select": {"name": "search"}, "field": "tool_result", "contains": "refund"}],
            steps=[_SEARCH],
        ),
        fails(
            [{"select": {"name": "search"}, "field": "tool_result", "contains": "60 days"}],
            steps=[_SEARCH],
            because='"60 days"',
        ),
        fails(
            [{"select": {"name": "browse"}, "field": "tool_result", "contains": "refund"}],
            steps=[_SEARCH],
            because="selects no step",
        ),
        is_unknown(
            [{"select": {"name": "search"}, "field": "tool_result", "regex": "(a|aa)+$"}],
            steps=[Step.tool_call("search", {}, "a" * 60 + "!")],
            because="time limit",
        ),
        is_unknown(
            [{"select": {"name": "search"}, "field": "tool_result", "not_contains": "sk-1"}],
            steps=[Step.tool_call("search", {}, "the key is [redacted]")],
            because="redacted",
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        with patterns.shared_limit():
            return self._evaluate(trace)

    def _evaluate(self, trace: Trace) -> CheckResult:
        unknown = ""
        for number, assertion in enumerate(self.assertions, 1):
            needed = {_EVIDENCE.get(assertion.field), _EVIDENCE.get(assertion.select.type or "")}
            missing = needed - trace.recorded - {None}
            if missing:
                kinds = ", ".join(sorted(map(str, missing)))
                unknown = unknown or f"assertion {number}: not recorded in this trace: {kinds}"
                continue
            chosen = [(step, _selected(step, assertion.select)) for step in trace.steps]
            steps = [step for step, is_selected in chosen if is_selected]
            if any(is_selected is None for _, is_selected in chosen):
                unknown = unknown or f"assertion {number}: the name of a step was redacted"
            elif not steps:
                return self.failed(f"assertion {number} selects no step")
            for step in steps:
                value = getattr(step, assertion.field)
                problem = _problem(value, assertion)
                if problem is None:
                    why = "redacted" if is_masked(value) else "no value, or the time limit"
                    unknown = unknown or f"assertion {number}: {why}"
                elif problem:
                    return self.failed(f"step {step.id}, {assertion.field}: {problem}")
        if unknown:
            return self.unknown(unknown)
        return self.pass_result


def _selected(step: Step, select: Select) -> bool | None:
    """Whether the step is selected; None if its name was redacted and could match."""
    if select.type is not None and step.type is not select.type:
        return False
    if select.name is None:
        return True
    name = step.tool_name or step.model or step.handoff_to or ""
    if is_masked(name) and select.name != "*":
        return None
    return name == select.name or fnmatchcase(name, select.name)


def _problem(value: Any, assertion: Assertion) -> str | None:
    """What is wrong with the value: "" if nothing, None if it cannot be decided."""
    if value is None and isinstance(assertion.equals, UnsetType):
        return None  # the field was not recorded, so the assertion cannot be decided
    text = "" if value is None else value
    if not isinstance(text, str):
        # As JSON, plus its unescaped texts: an escaped quotation mark must not hide a term.
        text = "\n".join([msgspec.json.encode(value).decode(), *strings(value)])
    if is_masked(text):
        return _problem_outside_masks(value, text, assertion)
    if assertion.contains is not None and assertion.contains not in text:
        return f'does not contain "{assertion.contains}"'
    if assertion.not_contains is not None and assertion.not_contains in text:
        return f'contains "{assertion.not_contains}"'
    if not isinstance(assertion.equals, UnsetType) and not equal(value, assertion.equals):
        return f"is {value!r:.80}, expected {assertion.equals!r:.80}"
    if assertion.regex is not None:
        found = patterns.search(assertion.regex, text)
        if not found:
            return None if found is None else f"does not match {assertion.regex}"
    return ""


def _problem_outside_masks(value: Any, text: str, assertion: Assertion) -> str | None:
    """Like `_problem`, for a value with masks, which could hide what the assertion is about."""
    if assertion.not_contains is not None and occurs(assertion.not_contains, text):
        return f'contains "{assertion.not_contains}"'
    wanted = assertion.equals
    if not isinstance(wanted, UnsetType) and not could_equal(value, wanted):
        return f"is {value!r:.80}, expected {wanted!r:.80}"
    is_sure = (
        assertion.not_contains is None
        and (assertion.contains is None or occurs(assertion.contains, text))
        and (isinstance(wanted, UnsetType) or equal(value, wanted))
        and (
            assertion.regex is None
            or found_outside_masks(patterns.compiled(assertion.regex), text) is True
        )
    )
    return "" if is_sure else None
