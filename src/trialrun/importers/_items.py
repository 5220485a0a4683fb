"""Items of OpenAI's Responses API: messages, reasoning, calls and their outputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.importers._blocks import Call, Part, Result, Thought, Whole, blocks_of
from trialrun.importers._values import dicts_in, name_of, text_of

_NOT_CALLS = frozenset({"mcp_list_tools", "mcp_approval_request", "mcp_approval_response"})
# Fields of an item that describe the item and not the call.
_OF_THE_ITEM = frozenset(
    {"id", "type", "status", "call_id", "output", "outputs", "results", "result", "error", "name"}
    | {"created_by", "approval_request_id", "server_label", "caller", "namespace"}
)


def is_item(value: Any) -> bool:
    """Whether a value is an item of the Responses API that is not simply a message with a role."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        return False
    if kind in ("function_call", "function_call_output"):
        return "call_id" in value
    if kind == "reasoning":
        return isinstance(value.get("summary"), list)
    if kind == "message":
        return isinstance(value.get("role"), str)
    return kind.endswith(("_call", "_call_output")) and ("call_id" in value or "id" in value)


def is_output(item: dict[str, Any]) -> bool:
    """Whether the model made the item; else it is what the caller sent."""
    kind = str(item.get("type"))
    if item.get("role") is not None:
        return bool(item.get("role") == "assistant")
    return kind == "reasoning" or kind.endswith("_call")


def item_parts(item: dict[str, Any]) -> Iterator[Part]:
    """The parts of an item that the model made."""
    kind = str(item.get("type"))
    if kind == "reasoning":
        yield Thought(text_of(item.get("summary")) or text_of(item.get("content")))
    elif kind.endswith("_call") and kind not in _NOT_CALLS:
        yield from _call_parts(item, kind)
    elif item.get("role") == "assistant" or kind == "message":
        blocks = blocks_of(item.get("content"))
        given = [block.get("text", block.get("refusal")) for block in blocks]
        yield Whole("".join(text for text in given if isinstance(text, str)))


def _call_parts(item: dict[str, Any], kind: str) -> Iterator[Part]:
    """The call, and its result where the provider ran it."""
    key = name_of(item.get("call_id")) or name_of(item.get("id"))
    done = item.get("status") == "completed" and kind not in ("function_call", "custom_tool_call")
    yield Call(name_of(item.get("name")) or kind, _arguments(item), key, done=done)
    for name in ("output", "results", "outputs"):
        if item.get(name) is not None:
            yield _result(key, item[name], item.get("error"), item)
            return
    if item.get("error") is not None:
        yield _result(key, None, item["error"], item)


def _arguments(item: dict[str, Any]) -> Any:
    for name in ("arguments", "input", "action"):
        if item.get(name) is not None:
            return item[name]
    rest = {key: value for key, value in item.items() if key not in _OF_THE_ITEM}
    return rest or None


def output_result(item: dict[str, Any]) -> Result:
    """The result in a `…_call_output` item, which the caller sent."""
    key = name_of(item.get("call_id")) or name_of(item.get("id"))
    return _result(key, item.get("output"), item.get("error"), item)


def _result(key: str | None, value: Any, error: Any, item: dict[str, Any]) -> Result:
    failed = item.get("status") in ("failed", "incomplete") or error is not None
    said = name_of(error) or (str(error)[:500] if error is not None else None)
    return Result(key, value, failed, said, _exit_code(value))


def _exit_code(output: Any) -> int | None:
    """The last exit code of a shell call: `[{"outcome": {"type": "exit", "exit_code": 0}}]`."""
    outcomes = [one["outcome"] for one in dicts_in(output) if isinstance(one.get("outcome"), dict)]
    codes = [one.get("exit_code") for one in outcomes if type(one.get("exit_code")) is int]
    return next((code for code in codes if code), codes[-1]) if codes else None
