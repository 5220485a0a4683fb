"""Parts of the messages of model APIs and frameworks: texts, reasoning, calls and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trialrun.importers._values import dicts_in, name_of, text_of


class Thought(NamedTuple):
    """Reasoning that a model shows."""

    text: str


class Call(NamedTuple):
    """A call that a model asked for."""

    name: str
    arguments: Any
    key: str | None
    parent: str | None = None  # the key of the call that made it
    done: bool = False  # the recording says that it succeeded, without its result


class Result(NamedTuple):
    """The result of a call."""

    key: str | None
    value: Any
    failed: bool = False
    error: str | None = None
    exit_code: Any = None
    name: str | None = None  # of the tool, where the call has no key


class Whole(str):
    """The text of a whole message: the text of the next message does not continue it."""

    __slots__ = ()


Part = str | Thought | Call | Result

_CALL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call"})
_THOUGHTS = frozenset({"thinking", "reasoning", "reasoning_content"})


def message_parts(message: dict[str, Any]) -> Iterator[Part]:
    """The parts of a reply in the shape of OpenAI's chat, Anthropic's messages or LangChain.

    LangChain has the calls both beside the content and in it: they are taken once.
    """
    beside = calls_of(message)
    known = {call.key for call in beside}
    shown = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(shown, str):
        yield Thought(shown)
    for block in blocks_of(message.get("content")):
        part = _block_part(block)
        if part is not None and not (isinstance(part, Call) and beside and part.key in known):
            yield part
    if isinstance(message.get("refusal"), str):
        yield message["refusal"]
    yield from beside
    for call in dicts_in(message.get("invalid_tool_calls")):
        yield Call(str(call.get("name")), call.get("args"), name_of(call.get("id")))
        error = name_of(call.get("error")) or "the arguments cannot be read"
        yield Result(name_of(call.get("id")), None, error=error)


def _block_part(block: dict[str, Any]) -> Part | None:
    kind = str(block.get("type"))
    if kind in _THOUGHTS:
        return Thought(_thought(block))
    if kind in _CALL_BLOCKS and isinstance(block.get("name"), str):
        caller = block.get("caller")
        parent = caller.get("tool_id") if isinstance(caller, dict) else None
        arguments = block.get("input", block.get("args"))
        key = name_of(block.get("id"))
        return Call(block["name"], arguments, key, name_of(parent))
    if is_result(block):
        return block_result(block)
    text = block.get("text", block.get("refusal"))
    return text if isinstance(text, str) else None


def _thought(block: dict[str, Any]) -> str:
    for name in ("thinking", "reasoning", "text"):
        if isinstance(block.get(name), str):
            return str(block[name])
    return text_of(block.get("summary")) or text_of(block.get("content"))


def is_result(block: dict[str, Any]) -> bool:
    """`tool_result`, `web_search_tool_result`, `mcp_tool_result` and the like."""
    return str(block.get("type")).endswith("tool_result")


def block_result(block: dict[str, Any]) -> Result:
    """The result of a call in a block of Anthropic's API."""
    content = block.get("content")
    inner = content if isinstance(content, dict) else {}
    failed = block.get("is_error") is True or str(inner.get("type")).endswith("_error")
    key = name_of(block.get("tool_use_id"))
    return Result(key, plain_result(content), failed, exit_code=inner.get("return_code"))


def tool_result(message: dict[str, Any]) -> Result:
    """The result of a call in a message of a tool: OpenAI's chat and LangChain."""
    failed = message.get("status") == "error" or message.get("is_error") is True
    key, name = name_of(message.get("tool_call_id")), name_of(message.get("name"))
    return Result(key, plain_result(message.get("content")), failed, name=name)


def calls_of(message: dict[str, Any]) -> list[Call]:
    """The calls beside the content of a message: OpenAI's and LangChain's `tool_calls`."""
    extra = message.get("additional_kwargs")
    inner = extra if isinstance(extra, dict) else {}
    given = message.get("tool_calls") or inner.get("tool_calls")
    found = [call for item in dicts_in(given) if (call := _call(item)) is not None]
    old = message.get("function_call") or inner.get("function_call")
    if not found and isinstance(old, dict) and isinstance(old.get("name"), str):
        found = [Call(old["name"], old.get("arguments"), None)]
    return found


def _call(item: dict[str, Any]) -> Call | None:
    """`{"id", "function": {"name", "arguments"}}`, `{"id", "name", "args"}` and the like."""
    named = [item[kind] for kind in ("function", "custom") if isinstance(item.get(kind), dict)]
    inner = named[0] if named else item
    if not isinstance(inner.get("name"), str):
        return None
    names = ("arguments", "args", "input")
    arguments = next((inner[name] for name in names if inner.get(name) is not None), None)
    return Call(inner["name"], arguments, name_of(item.get("id")))


def plain_result(content: Any) -> Any:
    """The text of a result that has only text parts; anything else unchanged."""
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    if texts and len(texts) == len(parts) and all(isinstance(text, str) for text in texts):
        return text_of(parts)
    return content


def prompt_text(content: Any) -> str:
    """The text of a prompt; parts of other kinds are named if there is no text: `[image_url]`."""
    text = text_of(content)
    if text.strip():
        return text
    others = [part for part in dicts_in(content) if "text" not in part and not is_result(part)]
    return " ".join(f"[{part['type']}]" for part in others if isinstance(part.get("type"), str))


def blocks_of(content: Any) -> Iterator[dict[str, Any]]:
    """The blocks of a content; text is a block too."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield {"type": "text", "text": part}
        elif isinstance(part, dict):
            yield part
