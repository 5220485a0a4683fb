"""One step of a run: its type and its data.

Steps are frozen. Their constructors refuse impossible values (a negative count, a cost of NaN, a
wrong type) with an error that names the field.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum, StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from trialrun.errors import TraceError

# Larger counts are corrupt data, and would overflow the integers of a database.
LARGEST_COUNT = 10**15
LARGEST_AMOUNT = 1e15

Count = Annotated[int, Meta(ge=0, le=LARGEST_COUNT)]
Amount = Annotated[float, Meta(ge=0, le=LARGEST_AMOUNT)]

UNUSABLE = "unusable"
"""The key in a step's metadata for values that were read but could not be used."""


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


def refuse(owner: str, field: str, wanted: str, found: object) -> None:
    """Raise an error that names the field, what it accepts and what was given."""
    shown = repr(found)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    raise TraceError(f"{owner}.{field}: expected {wanted}, found {shown}")


def require_text(owner: str, field: str, value: object) -> None:
    """Refuse anything but text or None."""
    if value is not None and not isinstance(value, str):
        refuse(owner, field, "text", value)


def require_count(owner: str, field: str, value: object) -> None:
    """Refuse anything but a whole number, 0 or more."""
    if type(value) is not int or not 0 <= value <= LARGEST_COUNT:
        refuse(owner, field, "a whole number, 0 or more", value)


def require_amount(owner: str, field: str, value: object) -> None:
    """Refuse anything but None or a finite number, 0 or more."""
    if value is None:
        return
    if type(value) not in (int, float) or not 0 <= value <= LARGEST_AMOUNT:  # type: ignore[operator]
        refuse(owner, field, "a finite number, 0 or more", value)


def require_mapping(owner: str, field: str, value: object) -> None:
    """Refuse anything but a dict or None."""
    if value is not None and not isinstance(value, dict):
        refuse(owner, field, "a dict", value)


def as_enum(owner: str, field: str, value: object, kind: type[Enum]) -> Enum:
    """The enum member for a member or its value; anything else is refused."""
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(member.value for member in kind)
        refuse(owner, field, f"one of {choices}", value)
        raise AssertionError("unreachable") from None


def as_moment(owner: str, field: str, value: object) -> datetime | None:
    """The datetime, with UTC if it has no time zone: mixed ones could not be compared."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        refuse(owner, field, "a datetime", value)
    assert isinstance(value, datetime)
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


class Message(Struct, frozen=True):
    """One message of a conversation."""

    role: str
    content: str

    def __post_init__(self) -> None:
        for field in ("role", "content"):
            if not isinstance(getattr(self, field), str):
                refuse("Message", field, "text", getattr(self, field))


class TokenUsage(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Tokens of one model call, counted as its provider counts them.

    OpenAI's prompt tokens include the cached ones, Anthropic's do not; `pricing` handles both.
    """

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    total_tokens: Count = -1  # becomes the sum if the source gives no total
    cached_tokens: Count = 0
    cache_write_tokens: Count = 0
    reasoning_tokens: Count = 0

    def __post_init__(self) -> None:
        if self.total_tokens == -1:
            for field in ("prompt_tokens", "completion_tokens"):
                require_count("TokenUsage", field, getattr(self, field))
            force_setattr(self, "total_tokens", self.prompt_tokens + self.completion_tokens)
        for field in self.__struct_fields__:
            require_count("TokenUsage", field, getattr(self, field))
        parts = self.prompt_tokens + self.completion_tokens
        if self.total_tokens == 0:  # evaldeck writes 0 for "no total given"
            force_setattr(self, "total_tokens", parts)
        elif self.total_tokens < parts:
            refuse("TokenUsage", "total_tokens", f"at least its parts, {parts}", self.total_tokens)


class Step(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """One thing that the agent did. The trace assigns an `id` if the source has none."""

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
        if type(self.type) is not StepType:
            force_setattr(self, "type", as_enum("Step", "type", self.type, StepType))
        if type(self.status) is not StepStatus:
            force_setattr(self, "status", as_enum("Step", "status", self.status, StepStatus))
        for field in _STEP_TEXTS:
            value = getattr(self, field)
            if value is not None and type(value) is not str:
                require_text("Step", field, value)
        if self.timestamp is not None:
            force_setattr(self, "timestamp", as_moment("Step", "timestamp", self.timestamp))
        require_amount("Step", "duration_ms", self.duration_ms)
        require_amount("Step", "cost_usd", self.cost_usd)
        if self.tokens is not None and type(self.tokens) is not TokenUsage:
            refuse("Step", "tokens", "a TokenUsage", self.tokens)
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
