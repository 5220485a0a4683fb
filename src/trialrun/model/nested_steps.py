"""Finds calls that are nested in other steps, and makes them steps of the trace.

Recorders nest the steps of a subagent in `children` or `steps` of a step, and the calls that a
model asked for in `tool_calls` of the model call. A check that saw only the outer steps would pass
a run that called a forbidden tool inside.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trialrun.model.steps import Step, StepType
from trialrun.model.trace import Trace

_STEPS = ("children", "steps")  # what happened inside a step
# What a model asked for; the call may have its own step.
_REQUESTS = ("tool_calls", "toolCalls", "function_call", "functionCall")
_NESTED = (*_STEPS, *_REQUESTS)
_STEP_FIELDS = frozenset({*Step.__struct_fields__, "content"})
_TRACE_FIELDS = frozenset(Trace.__struct_fields__)
_MOST_LOOKED_AT = 100_000
_TYPES = frozenset(kind.value for kind in StepType)
_TOOL_CALL = StepType.TOOL_CALL.value
_CALL_TYPES = frozenset(  # other names for a tool call: OpenAI's, then Anthropic's
    {"function", "function_call", "custom_tool_call", "tool_use", "server_tool_use", "mcp_tool_use"}
)
_NAMES = ("tool_name", "name", "toolName", "tool")
_ARGUMENTS = ("tool_args", "arguments", "args", "input", "parameters")
# In a field that is not read: `{"name": "search", "args": {}}` is a call, `{"name": "Ann", "input":
# "hi"}` need not be; the keys below are only in calls and their results.
_ARGUMENTS_ONLY = ("tool_args", "arguments", "args", "parameters")
_OF_CALLS = (
    "tool_name", "tool_call_id", "tool_use_id", "tool_input", "gen_ai.tool.name", *_REQUESTS,
)  # fmt: skip
_IDS = ("id", "call_id", "tool_call_id", "toolCallId")
_READ = frozenset({*_NAMES, *_ARGUMENTS, *_IDS, "type", "function", "functionCall", "index"})


def flatten(data: dict[str, Any], notes: list[str]) -> tuple[dict[str, Any], bool]:
    """The trace with nested calls as steps, and whether all of them could be read."""
    steps = data.get("steps")
    beside = [name for name in ("children", *_REQUESTS) if data.get(name)]
    nested = isinstance(steps, list) and any(map(_has_nested, steps))
    if beside or nested:
        found = _Flattened(notes, set(_given_ids([steps, *(data[name] for name in beside)])))
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            found.add(step, f"steps[{index}]", None)
        for name in beside:
            if name == "children":
                found.add_inside(data[name], name, None)
            else:
                found.add_requests(data[name], name, None)
        kept = {key: value for key, value in data.items() if key not in beside}
        data = {**kept, "steps": found.all_steps()}
        if not found.complete:
            return data, False
    return data, not _unread_calls(data, notes)


def _unread_calls(data: dict[str, Any], notes: list[str]) -> bool:
    """Whether a field that no one reads holds calls: a check would not see them.

    Recorders have many names for such fields (`messages`, `spans`, `substeps`, `events`); what is
    in them counts, not their name.
    """
    steps = data.get("steps")
    holders = [("", data, _TRACE_FIELDS)]
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict) and not step.keys() <= _STEP_FIELDS:
            holders.append((f"steps[{index}].", step, _STEP_FIELDS))
    for place, holder, known in holders:
        for key, value in holder.items():
            if key not in known and isinstance(value, (dict, list)) and _holds_call(value):
                notes.append(
                    f"{place}{key}: holds tool calls, and is not read; give them as steps; "
                    "the calls of this trace are left unknown"
                )
                return True
    return False


def _holds_call(value: Any) -> bool:
    """Whether a tool call is anywhere inside, as far as a bounded search finds it."""
    left = [value]
    for _ in range(_MOST_LOOKED_AT):
        if not left:
            return False
        one = left.pop()
        if isinstance(one, list):
            left.extend(one)
        elif isinstance(one, dict):
            if _is_call(one):
                return True
            left.extend(one.values())
    return bool(left)  # too much to look at: it may hold one


def _is_call(item: dict[str, Any]) -> bool:
    """Whether a dict is a call in a form of any recorder, or the result of one."""
    if item.get("type") in (_TOOL_CALL, *_CALL_TYPES) or any(map(item.get, _OF_CALLS)):
        return True
    return any(map(item.get, _NAMES)) and any(
        isinstance(item.get(name), (dict, str)) for name in _ARGUMENTS_ONLY
    )


def _has_nested(step: Any) -> bool:
    if not isinstance(step, dict):
        return False
    return any(step.get(name) for name in _NESTED) or bool(_blocks(step))


def _blocks(step: dict[str, Any]) -> list[Any]:
    """The calls among the blocks of a message: Anthropic's `tool_use` in `content`."""
    content = step.get("content")
    if not isinstance(content, list):
        return []
    return [
        block
        for block in content
        if isinstance(block, dict) and str(block.get("type")) in _CALL_TYPES
    ]


class _Flattened:
    """The steps of a trace in order, each before what is nested in it."""

    def __init__(self, notes: list[str], taken: set[str]) -> None:
        self.notes = notes
        self.taken = taken
        self.steps: list[Any] = []
        self.requests: dict[int, dict[str, Any]] = {}  # by position in `steps`
        self.complete = True

    def add(self, step: Any, place: str, parent: str | None) -> None:
        """Add a step, then what is nested in it."""
        if not _has_nested(step):
            self.steps.append(_below(step, parent))
            return
        outer = {key: value for key, value in step.items() if key not in _NESTED}
        # Those inside refer to the outer step by its id.
        name = outer["id"] = outer.get("id") or self._new_id()
        self.steps.append(_below(outer, parent))
        for key in _STEPS:
            self.add_inside(step.get(key) or [], f"{place}.{key}", name)
        for key in _REQUESTS:
            if step.get(key):
                self.add_requests(step[key], f"{place}.{key}", name)
        self.add_requests(_blocks(step), f"{place}.content", name)

    def add_inside(self, items: Any, place: str, parent: str | None) -> None:
        """Add what happened inside a step, or inside the trace."""
        if not isinstance(items, list):
            self._unreadable(place, items)
            return
        for index, item in enumerate(items):
            self._add_inner(item, f"{place}[{index}]", parent)

    def _new_id(self) -> str:
        """The number of the next step, or one that no step has."""
        name = str(len(self.steps) + 1)
        while name in self.taken:
            name += "'"
        return name

    def _add_inner(self, item: Any, place: str, parent: str | None) -> None:
        is_step = isinstance(item, dict) and str(item.get("type")) in _TYPES
        step = item if is_step and _is_named(item) else as_call(item)
        if step is None:
            self._unreadable(place, item)
        else:
            self.add(step, place, parent)

    def add_requests(self, items: Any, place: str, parent: str | None) -> None:
        """Add calls that were asked for; those that have a step are left out at the end."""
        for index, item in enumerate(items if isinstance(items, list) else [items]):
            is_step = isinstance(item, dict) and str(item.get("type")) in _TYPES and _is_named(item)
            call = item if is_step else as_call(item)
            if call is None:
                self._unreadable(f"{place}[{index}]", item)
            else:
                self.requests[len(self.steps)] = call
                self.add(call, f"{place}[{index}]", parent)

    def _unreadable(self, place: str, item: Any) -> None:
        self.complete = False
        self.notes.append(
            f"{place}: cannot be read as a call: {repr(item)[:60]}; expected a step, or a call "
            "with its name and arguments; the calls of this trace are left unknown"
        )

    def all_steps(self) -> list[Any]:
        """The steps; a call that was asked for and has its own step is there once."""
        own = [
            (position, step)
            for position, step in enumerate(self.steps)
            if isinstance(step, dict)
            and step.get("type") == _TOOL_CALL
            and position not in self.requests
        ]
        doubled: set[int] = set()
        for same in (_same_id, _same_call, _same_name):
            for position, call in self.requests.items():
                if position in doubled:
                    continue
                match = next((one for one in own if same(call, one[1])), None)
                if match is not None:
                    own.remove(match)
                    doubled.add(position)
        return [step for position, step in enumerate(self.steps) if position not in doubled]


def _given_ids(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _given_ids(item)
    elif isinstance(value, dict):
        if isinstance(value.get("id"), str):
            yield value["id"]
        for key in (*_NESTED, "content"):
            yield from _given_ids(value.get(key))


def _below(step: Any, parent: str | None) -> Any:
    if parent is None or not isinstance(step, dict) or step.get("parent_id"):
        return step
    return {**step, "parent_id": parent}


def _is_named(step: dict[str, Any]) -> bool:
    return step["type"] != _TOOL_CALL or bool(step.get("tool_name"))


def as_call(item: Any) -> dict[str, Any] | None:
    """A tool call in the form of OpenAI, Anthropic, Google, LangChain or a name; None otherwise."""
    if isinstance(item, str) and item:
        return {"type": _TOOL_CALL, "tool_name": item}
    if not isinstance(item, dict):
        return None
    inner = item.get("function") or item.get("functionCall") or item.get("function_call")
    source = inner if isinstance(inner, dict) else item
    name = _first(source, _NAMES)
    kind = item.get("type")
    if not isinstance(name, str) or not name:
        return None
    if kind is not None and kind != _TOOL_CALL and kind not in _CALL_TYPES:
        return None
    call: dict[str, Any] = {"type": _TOOL_CALL, "tool_name": name}
    identity = _first(item, _IDS)
    if isinstance(identity, str):
        call["id"] = identity
    arguments = _first(source, _ARGUMENTS)
    arguments = _decoded(arguments) if isinstance(arguments, str) else arguments
    if isinstance(arguments, dict):
        call["tool_args"] = arguments
    # Results, times and states keep their names; `content` and `output` name the result elsewhere.
    rest = {key: value for key, value in item.items() if key not in _READ and key not in call}
    result = _first(rest, ("tool_result", "result", "output"))
    if result is not None:
        call["tool_result"] = result
    kept = {key: value for key, value in rest.items() if key not in ("result", "output")}
    return {**kept, **call}


def _first(holder: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((holder[name] for name in names if holder.get(name) is not None), None)


def _decoded(text: str) -> Any:
    """Arguments from OpenAI's text; other text stays what it is, and is not an object."""
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text


def _ids(step: dict[str, Any]) -> set[str]:
    metadata = step.get("metadata")
    holders = [step, metadata] if isinstance(metadata, dict) else [step]
    found = {holder.get(name) for holder in holders for name in _IDS}
    return {one for one in found if isinstance(one, str) and one}


def _same_id(call: dict[str, Any], step: dict[str, Any]) -> bool:
    return _same_name(call, step) and bool(_ids(call) & _ids(step))


def _same_call(call: dict[str, Any], step: dict[str, Any]) -> bool:
    return _same_name(call, step) and call.get("tool_args") == step.get("tool_args")


def _same_name(call: dict[str, Any], step: dict[str, Any]) -> bool:
    return bool(call.get("tool_name") == step.get("tool_name"))
