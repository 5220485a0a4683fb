"""One step of a run: its type and its data.

Steps are frozen. Their constructors refuse impossible values (a negative count, a cost of NaN, a
wrong type) with an error that names the field.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from itertools import count
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from trialrun.model.reading import READER, get_ident
from trialrun.model.usage import TokenUsage, counted_for
from trialrun.model.values import (
    Amount,
    as_amount,
    as_enum,
    as_moment,
    as_text,
    refuse,
    require_mapping,
)

UNUSABLE = "unusable"
"""The key in a step's metadata for values that were read but could not be used."""


NEW_ID = "new-"
"""Begins the id of a step without one, until a trace takes the step and gives it a number."""

_new_ids = count(1)


class StepType(StrEnum):
    """The type of a step."""

    LLM_CALL = "llm_call"
    TOOL_CALL = "tool_call"
    REASONING = "reasoning"
    HUMAN_INPUT = "human_input"
    HANDOFF = "handoff"
    RETRIEVAL = "retrieval"
    GUARDRAIL = "guardrail"


class StepStatus(StrEnum):
    """How a step ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    PENDING = "pending"


# Looking a member up on an Enum class costs ten times a global in Python 3.11.
_LLM_CALL = StepType.LLM_CALL
_TOOL_CALL = StepType.TOOL_CALL


class Message(Struct, frozen=True):
    """One message of a conversation."""

    role: str
    content: str

    def __post_init__(self) -> None:
        for field in ("role", "content"):
            if not isinstance(getattr(self, field), str):
                refuse("Message", field, "text", getattr(self, field))


class Step(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """One thing that the agent did.

    A step without an `id` has a provisional one, so that others can name it as their `parent_id`;
    in a trace both become its number.
    """

    type: StepType
    id: str = ""
    status: StepStatus = StepStatus.SUCCESS
    timestamp: datetime | None = None
    duration_ms: Amount | None = None

    model: str | None = None
    input: str | None = None
    output: str | None = None
    tokens: TokenUsage | None = None
    cost_usd: Amount | None = None

    tool_name: str | None = None
    tool_args: dict[str, Any] | None = None
    tool_result: Any = None

    reasoning_text: str | None = None
    handoff_to: str | None = None

    parent_id: str | None = None
    error: str | None = None
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if READER.thread == get_ident():
            return  # `step_lists.usable` checks the steps that were decoded
        if not self.id:
            force_setattr(self, "id", f"{NEW_ID}{next(_new_ids)}")
        if type(self.type) is not StepType:
            force_setattr(self, "type", as_enum("Step", "type", self.type, StepType))
        if type(self.status) is not StepStatus:
            force_setattr(self, "status", as_enum("Step", "status", self.status, StepStatus))
        for field in _STEP_TEXTS:
            value = getattr(self, field)
            if value is not None and type(value) is not str:
                force_setattr(self, field, as_text("Step", field, value))
        if self.timestamp is not None:
            force_setattr(self, "timestamp", as_moment("Step", "timestamp", self.timestamp))
        _check_numbers(self)
        require_mapping("Step", "tool_args", self.tool_args)
        if type(self.metadata) is not dict:
            refuse("Step", "metadata", "a dict", self.metadata)
        if self.type is _TOOL_CALL and not self.tool_name:
            refuse("Step", "tool_name", "the name of the tool that was called", self.tool_name)

    @classmethod
    def llm_call(
        cls,
        model: str,
        input: str | None = None,
        output: str | None = None,
        tokens: TokenUsage | None = None,
        **fields: Any,
    ) -> Step:
        """A call to a language model."""
        return cls(type=_LLM_CALL, model=model, input=input, output=output, tokens=tokens, **fields)

    @classmethod
    def tool_call(
        cls,
        tool_name: str,
        tool_args: dict[str, Any] | None = None,
        tool_result: Any = None,
        **fields: Any,
    ) -> Step:
        """A tool call."""
        return cls(
            type=_TOOL_CALL,
            tool_name=tool_name,
            tool_args={} if tool_args is None else tool_args,
            tool_result=tool_result,
            **fields,
        )

    @classmethod
    def reasoning(cls, text: str, **fields: Any) -> Step:
        """Reasoning text that the agent produced."""
        return cls(type=StepType.REASONING, reasoning_text=text, **fields)

    @classmethod
    def human_input(cls, text: str, **fields: Any) -> Step:
        """A further message from the user; it starts the next turn of a conversation."""
        return cls(type=StepType.HUMAN_INPUT, input=text, **fields)

    @classmethod
    def handoff(cls, to: str, **fields: Any) -> Step:
        """A handoff of the work to another agent."""
        return cls(type=StepType.HANDOFF, handoff_to=to, **fields)

    @classmethod
    def retrieval(cls, query: str, results: Any = None, **fields: Any) -> Step:
        """A document search that is not a tool call."""
        return cls(type=StepType.RETRIEVAL, input=query, tool_result=results, **fields)

    @classmethod
    def guardrail(cls, name: str, output: str | None = None, **fields: Any) -> Step:
        """A guardrail that checked an input or an answer."""
        return cls(type=StepType.GUARDRAIL, tool_name=name, output=output, **fields)


def _check_numbers(step: Step) -> None:
    if step.duration_ms is not None:
        force_setattr(step, "duration_ms", as_amount("Step", "duration_ms", step.duration_ms))
    if step.cost_usd is not None:
        force_setattr(step, "cost_usd", as_amount("Step", "cost_usd", step.cost_usd))
    tokens = step.tokens
    if tokens is not None:
        if type(tokens) is not TokenUsage:
            refuse("Step", "tokens", "a TokenUsage", tokens)
        if tokens.cached_tokens or tokens.cache_write_tokens:
            force_setattr(step, "tokens", counted_for(tokens, step.model))


_STEP_TEXTS = (
    "id",
    "model",
    "input",
    "output",
    "tool_name",
    "reasoning_text",
    "handoff_to",
    "parent_id",
    "error",
)


NO_USAGE = "model calls have output and 0 tokens: their usage was not recorded"


def lacks_usage(steps: Iterable[Step]) -> bool:
    """Whether the usage was not recorded although it is there: output of a model, and 0 tokens.

    A stream without usage is often written so.
    """
    said = False
    for step in steps:
        if step.type is _LLM_CALL:
            if step.tokens is not None and step.tokens.total_tokens:
                return False
            said = said or (step.tokens is not None and bool(step.output))
    return said
