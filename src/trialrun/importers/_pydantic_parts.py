"""Messages of pydantic-ai: requests and responses with parts."""

from __future__ import annotations

from typing import Any

from trialrun.importers._blocks import Call, Part, Result, Thought
from trialrun.importers._messages import Conversation
from trialrun.importers._values import as_arguments, dicts_in, name_of, text_of

_OUTPUT_TOOL = "final_result"
"""The tool by which an agent with an `output_type` answers: its arguments are the answer."""


def is_model_message(value: Any) -> bool:
    """Whether the value is a request or a response of pydantic-ai."""
    if not isinstance(value, dict) or value.get("kind") not in ("request", "response"):
        return False
    parts = value.get("parts")
    return isinstance(parts, list) and all(
        isinstance(part, dict) and isinstance(part.get("part_kind"), str) for part in parts
    )


def add_model_message(conversation: Conversation, message: dict[str, Any]) -> None:
    """Add a request or a response to the trace."""
    parts = dicts_in(message.get("parts"))
    if message.get("kind") == "request":
        for part in parts:
            _add_request_part(conversation, part)
        return
    found: list[Part] = []
    for part in parts:
        found += _response_part(part)
    usage = message.get("usage")
    conversation.reply(
        found,
        model=name_of(message.get("model_name")),
        key=name_of(message.get("provider_response_id")),
        usage=usage,
        at=message.get("timestamp"),
    )
    answers = [part for part in parts if _is_output_tool(part)]
    if answers:
        conversation.builder.say(_output_of(answers[-1].get("args")))


def _add_request_part(conversation: Conversation, part: dict[str, Any]) -> None:
    kind = part.get("part_kind")
    if kind == "user-prompt":
        text = text_of(_text_parts(part.get("content")))
        conversation.prompt(text or "[content without text]", part.get("timestamp"))
    elif kind in ("tool-return", "retry-prompt") and _is_of_a_tool(part):
        conversation.result(_result(part))


def _text_parts(content: Any) -> Any:
    """The parts of a prompt that are texts: others are images, files and their addresses."""
    if not isinstance(content, list):
        return content
    return [part.get("content", part) if _is_text(part) else part for part in content]


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("kind") == "text"


def _response_part(part: dict[str, Any]) -> list[Part]:
    kind, content = str(part.get("part_kind")), part.get("content")
    if kind == "text" and isinstance(content, str):
        return [content]
    if kind == "thinking" and isinstance(content, str):
        return [Thought(content)]
    if kind.endswith("tool-call") and not _is_output_tool(part):
        name = name_of(part.get("tool_name")) or "unnamed"
        return [Call(name, part.get("args"), name_of(part.get("tool_call_id")))]
    if kind.endswith("tool-return"):
        return [_result(part)]
    return []


def _result(part: dict[str, Any]) -> Result:
    # Outcomes: success, failed, denied, interrupted, retried; older versions have none.
    failed = part.get("part_kind") == "retry-prompt" or part.get("outcome", "success") != "success"
    key, name = name_of(part.get("tool_call_id")), name_of(part.get("tool_name"))
    return Result(key, part.get("content"), failed, name=name)


def _is_of_a_tool(part: dict[str, Any]) -> bool:
    """Whether it is not about the answer: a retry without a tool asks for a better answer."""
    return part.get("tool_name") is not None and not _is_output_tool(part)


def _is_output_tool(part: dict[str, Any]) -> bool:
    """`final_result`, or `final_result_City` where there are several types of output."""
    return part.get("tool_kind") == "output" or str(part.get("tool_name")).startswith(_OUTPUT_TOOL)


def _output_of(arguments: Any) -> Any:
    found = as_arguments(arguments)
    # A type that is not an object is wrapped: `{"response": 4}`.
    return found["response"] if found is not None and list(found) == ["response"] else found
