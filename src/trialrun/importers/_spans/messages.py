"""Reads messages inside spans, however a library spells them: texts, calls, results, reasoning."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trialrun.importers._spans.span import decoded
from trialrun.importers._values import as_arguments, text_of


class Asked(Struct):
    """A call that a model asked for."""

    name: str
    id: str | None = None
    arguments: dict[str, Any] | None = None


class Answered(Struct):
    """The result of a call, as the next request has it."""

    id: str | None
    name: str | None
    value: Any
    failed: bool = False


class Said:
    """One message."""

    __slots__ = ("calls", "results", "role", "texts", "thoughts")

    def __init__(self, role: str) -> None:
        self.role = role
        self.texts: list[str] = []
        self.calls: list[Asked] = []
        self.results: list[Answered] = []
        self.thoughts: list[str] = []

    @property
    def text(self) -> str:
        """Its text, whole."""
        return "\n".join(self.texts)


USER, ASSISTANT, TOOL, SYSTEM = "user", "assistant", "tool", "system"

_ROLES = {
    "user": USER, "human": USER, "humanmessage": USER, "humanmessagechunk": USER,
    "assistant": ASSISTANT, "ai": ASSISTANT, "model": ASSISTANT, "aimessage": ASSISTANT,
    "aimessagechunk": ASSISTANT, "tool": TOOL, "function": TOOL, "toolmessage": TOOL,
    "system": SYSTEM, "developer": SYSTEM, "systemmessage": SYSTEM,
}  # fmt: skip

_DEPTH = 6  # wrappers inside wrappers


def read(value: Any, role: str) -> list[Said]:
    """The messages of a request (`role` user) or a reply (`role` assistant)."""
    found: list[Said] = []
    _read(decoded(value), role, found, _DEPTH)
    return found


def last_text(messages: list[Said]) -> str | None:
    """The text of the last message, if the assistant said it."""
    said = messages[-1] if messages else None
    return said.text.strip() or None if said is not None and said.role == ASSISTANT else None


def _read(value: Any, role: str, found: list[Said], depth: int) -> None:
    if isinstance(value, str):
        if value.strip():
            said = Said(role)
            _text(said, value)
            found.append(said)
    elif isinstance(value, list):
        _read_list(value, role, found, depth)
    elif isinstance(value, dict) and depth:
        if "role" not in value or not ("parts" in value or "content" in value):
            for key in _WRAPPERS:
                if key in value and not _is_message(value, key):
                    inner = decoded(value[key])
                    if isinstance(inner, (list, dict)) and inner:
                        _read(inner, role, found, depth - 1)
                        return
        _read_one(value, role, found)


# Keys whose value has the messages: requests and replies of APIs, states of graphs, choices.
_WRAPPERS = (
    "messages", "choices", "generations", "contents", "new_message", "message", "update", "kwargs",
    "output", "input", "content",
)  # fmt: skip


def _is_message(value: dict[str, Any], key: str) -> bool:
    """Whether the dict is itself the message, and `key` a part of it."""
    if key == "content":  # a reply of Gemini has its message inside `content`
        return not (isinstance(value["content"], dict) and "parts" in value["content"])
    if key == "kwargs":
        return value.get("type") != "constructor"
    if key == "contents":  # a request of Gemini; OpenInference has parts of a message there
        return "role" in value
    if key in ("output", "input"):
        kind = value.get("type")
        return isinstance(kind, str) or "role" in value or "toolCallId" in value
    return False


def _read_list(value: list[Any], role: str, found: list[Said], depth: int) -> None:
    if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str):
        pair = _ROLES.get(value[0].lower())  # ["user", "What is …?"], a pair of LangChain
        if pair is not None:
            _read(value[1], pair, found, depth)
            return
    loose: Said | None = None  # parts without a message around them are one message
    for item in value:
        if isinstance(item, dict) and _is_part(item):
            if loose is None:
                loose = Said(role)
                found.append(loose)
            _part(loose, item)
        elif isinstance(item, (dict, list, str)) and depth:
            _read(item, role, found, depth - 1)


def _is_part(item: dict[str, Any]) -> bool:
    if "role" in item or "parts" in item:
        return False
    return _kind(item) in _PARTS or "toolCallId" in item or "toolName" in item


def _kind(item: dict[str, Any]) -> str:
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def _role(item: dict[str, Any], role: str) -> str:
    for key in ("role", "type"):
        given = item.get(key)
        if isinstance(given, str) and given.lower() in _ROLES:
            return _ROLES[given.lower()]
    names = item.get("id")
    if isinstance(names, list) and names and isinstance(names[-1], str):
        return _ROLES.get(names[-1].lower(), role)
    return role


def _read_one(item: dict[str, Any], role: str, found: list[Said]) -> None:
    parts = item.get("parts")
    if type(parts) is list and "role" in item:  # the convention's own form, and Gemini's
        said = Said(_role(item, role))
        for part in parts:
            if isinstance(part, dict):
                _part(said, part)
        found.append(said)
        return
    item = _unwrapped(item, role)
    said = Said(_role(item, role))
    kind = _kind(item)
    if kind in _ITEMS:
        _ITEMS[kind](said, item)
    elif "prompt" in item and "content" not in item:
        _text(said, item["prompt"])
    elif _is_result(item, said.role):
        said.role = TOOL
        _result(said, item)
    elif _is_known(item):
        _content(said, item)
        _calls(said, item)
    else:
        return
    found.append(said)


def _unwrapped(item: dict[str, Any], role: str) -> dict[str, Any]:
    """A message of LangChain without what `dumps` or `messages_to_dict` puts around it."""
    if item.get("type") == "constructor":
        kwargs = item.get("kwargs")
        return {**kwargs, "role": _role(item, role)} if isinstance(kwargs, dict) else item
    data = item.get("data")
    if isinstance(data, dict) and _kind(item).lower() in _ROLES:
        return {**data, "role": item["type"]}
    return item


def _calls(said: Said, item: dict[str, Any]) -> None:
    for call in _listed(item, "tool_calls") or _listed(item, "toolCalls"):
        _call(said, call)
    extra = item.get("additional_kwargs")
    if not said.calls and isinstance(extra, dict):
        for call in _listed(extra, "tool_calls"):
            _call(said, call)


def _is_known(item: dict[str, Any]) -> bool:
    keys = ("role", "content", "contents", "parts", "text", "tool_calls", "toolCalls")
    return any(key in item for key in keys)


def _listed(item: dict[str, Any], key: str) -> list[Any]:
    value = decoded(item.get(key))
    return value if isinstance(value, list) else []


def _is_result(item: dict[str, Any], role: str) -> bool:
    """A message of role tool; Langfuse also writes a tool's name as the role."""
    given = item.get("role")
    named = isinstance(given, str) and given.lower() not in _ROLES and "-" not in given
    return (role == TOOL and "parts" not in item) or "tool_call_id" in item or named


def _result(said: Said, item: dict[str, Any]) -> None:
    content = decoded(item.get("content", item.get("contents")))
    if isinstance(content, list) and any(_kind(part) in _RESULTS for part in _dicts(content)):
        for part in _dicts(content):
            _part(said, part)
        return
    key = item.get("tool_call_id", item.get("id"))
    name = item.get("name")
    role = item.get("role")
    if not isinstance(name, str) and isinstance(role, str) and role.lower() not in _ROLES:
        name = role
    failed = item.get("status") == "error" or item.get("is_error") is True
    value = item.get("content", item.get("contents"))
    said.results.append(Answered(_text_or_none(key), _text_or_none(name), plain(value), failed))


def plain(value: Any) -> Any:
    """A result without the parts around its text."""
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        inner = [part.get("message_content", part) for part in value]
        if all(isinstance(part, dict) and "text" in part for part in inner):
            return text_of(inner)
    return value


def _dicts(values: list[Any]) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)]


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _text(said: Said, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        return
    if said.role == ASSISTANT and value.startswith('[{"function"'):
        for call in _dicts(_listed({"calls": value}, "calls")):  # Koog writes calls as its text
            _call(said, call)
        return
    said.texts.append(value)


def _content(said: Said, item: dict[str, Any]) -> None:
    for key in ("parts", "content", "contents", "text"):
        value = item.get(key)
        if isinstance(value, str) and value[:2] in ("[{", '{"'):
            inside = decoded(value)
            is_parts = isinstance(inside, list) and all(map(_is_any_part, inside))
            value = inside if is_parts and inside else value
        if isinstance(value, str):
            _text(said, value)
        elif isinstance(value, dict):
            _part(said, value)
        elif isinstance(value, list):
            for part in value:
                if isinstance(part, dict):
                    _part(said, part)
                else:
                    _text(said, part)
        if value:
            return


def _is_any_part(item: Any) -> bool:
    return isinstance(item, dict) and (_kind(item) in _PARTS or bool(_KEYED & set(item)))


def _part(said: Said, part: dict[str, Any]) -> None:
    if "message_content" in part:
        inner = part["message_content"]
        part = inner if isinstance(inner, dict) else part
    kind = _kind(part)
    reader = _PARTS.get(kind)
    if reader is None:
        key = next((key for key in _KEYED_PARTS if isinstance(part.get(key), dict)), None)
        if key is not None:
            _KEYED_PARTS[key](said, part[key])
            return
        if kind.endswith("_tool_result"):
            reader = _tool_result
        elif "toolCallId" in part:
            reader = _tool_result if "result" in part or "output" in part else _tool_call
    if reader is not None:
        reader(said, part)
    elif part.get("thought") is True:
        _thought(said, part)
    elif isinstance(part.get("text"), str):
        _text(said, part["text"])


def _text_part(said: Said, part: dict[str, Any]) -> None:
    value = part.get("text", part.get("content"))
    _text(said, value)


def _thought(said: Said, part: dict[str, Any]) -> None:
    for key in ("thinking", "reasoning", "content", "text", "summary"):
        value = part.get(key)
        text = value if isinstance(value, str) else text_of(value)
        if text.strip():
            said.thoughts.append(text)
            return


def _tool_call(said: Said, part: dict[str, Any]) -> None:
    key = _first(part, ("call_id", "toolCallId", "toolUseId", "id"))
    name = _first(part, ("name", "toolName"))
    arguments = _first(part, ("arguments", "input", "args"))
    said.calls.append(Asked(name if isinstance(name, str) else "", key, as_arguments(arguments)))
    if not isinstance(key, str):
        said.calls[-1].id = None


def _call(said: Said, call: Any) -> None:
    """`{"id": …, "function": {"name": …, "arguments": …}}`, or the same without `function`."""
    call = decoded(call)
    if isinstance(call, dict):
        inner = call.get("tool_call", call)
        call = inner if isinstance(inner, dict) else call
        function = call.get("function")
        _tool_call(said, {**call, **function} if isinstance(function, dict) else call)


def _tool_result(said: Said, part: dict[str, Any]) -> None:
    key = _first(part, ("tool_use_id", "call_id", "toolCallId", "toolUseId", "id"))
    name = _first(part, ("name", "toolName"))
    value = _first(part, ("response", "result", "output", "content"))
    if isinstance(value, dict) and set(value) == {"type", "value"}:  # of Vercel
        value = value["value"]
    failed = part.get("is_error") is True or part.get("status") == "error"
    said.results.append(Answered(_text_or_none(key), _text_or_none(name), plain(value), failed))
    if said.role == USER and not said.texts:
        said.role = TOOL


def _first(part: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((part[key] for key in keys if part.get(key) is not None), None)


def _call_item(said: Said, item: dict[str, Any]) -> None:
    said.role = ASSISTANT
    _tool_call(said, item)


def _result_item(said: Said, item: dict[str, Any]) -> None:
    said.role = TOOL
    _tool_result(said, item)


def _message_item(said: Said, item: dict[str, Any]) -> None:
    _content(said, item)


def _hosted_item(said: Said, item: dict[str, Any]) -> None:
    """A call that the provider ran itself: its name is its type, its result is in it."""
    said.role = ASSISTANT
    key = _text_or_none(item.get("id"))
    name = item.get("name") if isinstance(item.get("name"), str) else item["type"][:-5]
    given = _first(item, ("arguments", "action", "input"))
    said.calls.append(Asked(name or item["type"], key, as_arguments(given)))
    value = _first(item, ("output", "results", "result"))
    if value is not None:
        said.results.append(Answered(key, None, value, item.get("error") is not None))


_RESULTS = frozenset({"tool_call_response", "tool_result", "tool-result"})
_PARTS = {
    "text": _text_part, "output_text": _text_part, "input_text": _text_part,
    "reasoning": _thought, "thinking": _thought,
    "tool_call": _tool_call, "tool_use": _tool_call, "tool-call": _tool_call,
    "server_tool_use": _tool_call, "mcp_tool_use": _tool_call,
    "tool_call_response": _tool_result, "tool_result": _tool_result, "tool-result": _tool_result,
}  # fmt: skip
_KEYED_PARTS = {
    "function_call": _tool_call, "functionCall": _tool_call, "toolUse": _tool_call,
    "function_response": _tool_result, "functionResponse": _tool_result,
    "toolResult": _tool_result,
}  # fmt: skip
_KEYED = frozenset(_KEYED_PARTS) | {"text"}
_ITEMS = {
    "function_call": _call_item, "custom_tool_call": _call_item, "tool_call": _call_item,
    "tool_use": _call_item, "function_call_output": _result_item,
    "custom_tool_call_output": _result_item, "message": _message_item, "reasoning": _thought,
    "web_search_call": _hosted_item, "file_search_call": _hosted_item, "mcp_call": _hosted_item,
    "code_interpreter_call": _hosted_item, "image_generation_call": _hosted_item,
}  # fmt: skip
