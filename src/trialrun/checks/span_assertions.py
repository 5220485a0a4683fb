"""`span_assertions`: a field of every selected step is as asserted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from trialrun.checks._masks import could_equal, found_outside_masks, occurs
from trialrun.checks._rubrics import RubricCheck
from trialrun.checks.base import (
    Text,
    check,
    fails,
    is_unknown,
    passes,
    require_deciding_pattern,
)
from trialrun.measures import patterns
from trialrun.measures.arguments import equal
from trialrun.measures.retrieval import strings
from trialrun.measures.search_texts import decoded
from trialrun.model.case import Rubric
from trialrun.model.judging import Inquiry, JudgeRequest, Material
from trialrun.model.results import CheckResult
from trialrun.model.trace import (
    HANDOFFS,
    LLM_CALLS,
    REASONING,
    RETRIEVALS,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
    Step,
    StepType,
    Trace,
)
from trialrun.redaction import MASK, is_masked
from trialrun.util.texts import did_you_mean

_FIELDS = (
    *("tool_name", "tool_args", "tool_result", "input", "output", "model", "reasoning_text"),
    *("status", "error", "handoff_to", "metadata"),
)
_WITH_PATH = ("tool_args", "tool_result", "input", "output", "metadata")

_EVIDENCE = {
    "tool_result": TOOL_RESULTS,
    "tool_args": TOOL_ARGS,
    "reasoning_text": REASONING,
    "model": LLM_CALLS,
    "handoff_to": HANDOFFS,
    StepType.REASONING: REASONING,
    StepType.LLM_CALL: LLM_CALLS,
    StepType.HANDOFF: HANDOFFS,
    StepType.RETRIEVAL: RETRIEVALS,
}


class Select(Struct, frozen=True, omit_defaults=True):
    """Selects steps by type and by name (of a tool or a model; globs are allowed)."""

    type: StepType | None = None
    name: Text | None = None


class Assertion(Struct, frozen=True, omit_defaults=True):
    """A condition on a field of each selected step."""

    select: Select
    field: Text
    contains: Text | None = None
    not_contains: Text | None = None
    regex: Text | None = None
    equals: Any = UNSET
    rubric: Rubric | None = None

    def __post_init__(self) -> None:
        name, dot, _ = self.field.partition(".")
        if name not in _FIELDS:
            hint = did_you_mean(name, _FIELDS)
            raise ValueError(f"field: expected one of {', '.join(_FIELDS)}, found {name}{hint}")
        if (dot and name not in _WITH_PATH) or (dot and "" in self.field.split(".")):
            raise ValueError(f"field: `{self.field}` is not a path into {', '.join(_WITH_PATH)}")
        asked = (self.contains, self.not_contains, self.regex, self.rubric)
        if self.equals is UNSET and all(term is None for term in asked):
            raise ValueError(
                "asserts nothing: give contains, not_contains, regex, equals or rubric"
            )
        if self.regex is not None:
            require_deciding_pattern(self.regex)


_SEARCH = Step.tool_call("search", {"q": "refund"}, "refund within 30 days")


@check(layer="path", needs={TOOL_CALLS})
class SpanAssertions(RubricCheck):
    """Fails when a selected step does not meet its assertion, or when no step is selected.

    `{select: {type: tool_call, name: search}, field: tool_result, contains: "refund"}`; also
    `not_contains`, `regex` and `equals`. All selected steps must meet the assertion. A value that
    is not text is searched as JSON. A field may be a path: `tool_args.query`, `metadata.user`,
    `tool_result.items.0.id`; a text that is JSON is read. A path that is not there fails.
    `rubric: {rule: "names a source"}` puts the field of each selected step to the judge, once all
    other assertions are met.
    """

    judged: ClassVar = False  # the instance overrides it if an assertion has a rubric

    assertions: Annotated[list[Assertion], Meta(min_length=1)]

    stricter: ClassVar = {"assertions": "more"}
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
        passes(
            [{"select": {"name": "search"}, "field": "tool_args.q", "equals": "refund"}],
            steps=[_SEARCH],
        ),
        fails(
            [{"select": {"name": "search"}, "field": "tool_args.query", "equals": "refund"}],
            steps=[_SEARCH],
            because="tool_args.query: is not there",
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

    def __post_init__(self) -> None:
        self.__dict__["judged"] = bool(self.rubrics_asked())
        super().__post_init__()

    def rubrics_asked(self) -> list[Rubric]:
        return [one.rubric for one in self.assertions if one.rubric is not None]

    def inquiry(self, run: Trace, turn: int | None) -> Inquiry | CheckResult:
        """One request for each selected step of each rubric, if the other assertions are met."""
        trace = run if turn is None else run.turns()[turn - 1]
        met = self.judge(trace, None)
        if met is not self.pass_result:
            return met
        requests = [
            self._request(assertion, assertion.rubric, step, trace)
            for assertion in self.assertions
            if assertion.rubric is not None
            for step in trace.steps
            if _selected(step, assertion.select)
        ]
        return Inquiry(requests, self.settled)

    def _request(
        self, assertion: Assertion, rubric: Rubric, step: Step, trace: Trace
    ) -> JudgeRequest:
        about = {"type": step.type.value, "tool": step.tool_name, "arguments": step.tool_args}
        context = [Material("the step", json.dumps(about, ensure_ascii=False, default=repr))]
        if rubric.context_file is not None:
            context.append(Material("context", self.contexts[rubric.context_file]))
        value = _value_at(step, assertion.field)
        text = (
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
        )
        return JudgeRequest(rubric=rubric, question=trace.input, answer=text, context=context)

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        with patterns.shared_limit():
            return self._evaluate(trace)

    def _evaluate(self, trace: Trace) -> CheckResult:
        unknown = ""
        for number, assertion in enumerate(self.assertions, 1):
            root = assertion.field.partition(".")[0]
            needed = {_EVIDENCE.get(root), _EVIDENCE.get(assertion.select.type or "")}
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
                return self.failed(f"assertion {number} selects no step", {"assertion": number})
            for step in steps:
                value = _value_at(step, assertion.field)
                problem = "is not there" if value is _ABSENT else _problem(value, assertion)
                if problem is None:
                    why = "redacted" if is_masked(value) else "no value, or the time limit"
                    unknown = unknown or f"assertion {number}: {why}"
                elif problem:
                    data = {"assertion": number, "step": step.id, "field": assertion.field}
                    text = f"step {step.id}, {assertion.field}: {problem}"
                    return self.failed(text, data if value is _ABSENT else {**data, "found": value})
        if unknown:
            return self.unknown(unknown)
        return self.pass_result


_ABSENT: Any = object()


def _value_at(step: Step, path: str) -> Any:
    """The value of a field, or of a part of it; None if that was not recorded or is masked."""
    name, *keys = path.split(".")
    value = getattr(step, name)
    for key in keys:
        if value is None or (isinstance(value, str) and is_masked(value)):
            return value
        if isinstance(value, str):
            value = decoded(value)
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, (list, tuple)) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            # A key that was masked may be this one.
            return MASK if isinstance(value, Mapping) and is_masked([*value]) else _ABSENT
    return value


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
