"""One span with its place in the tree, and what it says in the terms of a run."""

from __future__ import annotations

from typing import Any

from trialrun.importers._spans import messages
from trialrun.importers._spans.dialects import dialect_of, operation_of
from trialrun.importers._spans.messages import ASSISTANT, USER, Asked, Said
from trialrun.importers._spans.span import Event, Span, decoded, nested
from trialrun.importers._usage import count, counted
from trialrun.importers._values import amount, as_arguments
from trialrun.model.trace import TokenUsage


class Node:
    """A span, read by its dialect. What is costly to read is read when it is asked for."""

    __slots__ = (
        "_replies",
        "_tool_name",
        "attributes",
        "operation",
        "parent",
        "row",
        "span",
        "swallowed",
    )

    def __init__(self, span: Span) -> None:
        self.span = span
        self.attributes = span.attributes
        self.row = dialect_of(span.scope, span.attributes)
        self.operation = operation_of(self.row, span.name, span.attributes)
        self.parent: Node | None = None
        self.swallowed: list[Node] = []  # the same call, seen by others
        self._replies: list[Said] | None = None
        self._tool_name: str | None = None

    def first(self, names: tuple[str, ...]) -> Any:
        """The first of these attributes that the span has."""
        attributes = self.attributes
        for name in names:
            value = attributes.get(name)
            if value is not None and value != "":
                return value
        return None

    def either(self, names: str) -> Any:
        """The same, of this span or of one that shows the same call."""
        for node in (self, *self.swallowed):
            value = node.first(getattr(node.row, names))
            if value is not None:
                return value
        return None

    # Agents and tools

    @property
    def agent_name(self) -> str | None:
        """The name of the agent."""
        name = self.first(self.row.agent)
        return name if isinstance(name, str) else _bare(self.span.name)

    @property
    def tool_name(self) -> str:
        """The name of the tool, without decoration."""
        if self._tool_name is None:
            name = self.either("tool")
            self._tool_name = name if isinstance(name, str) else _bare(self.span.name)
        return self._tool_name

    @property
    def call_id(self) -> str | None:
        """The id of the call; LangChain has it only in the message that is the result."""
        found = self.either("call_id")
        if isinstance(found, str):
            return found
        for node in (self, *self.swallowed):
            message = node.tool_message()
            if message is not None and message.id:
                return message.id
        return None

    def tool_message(self) -> messages.Answered | None:
        """The result, where it is a tool message of LangChain."""
        value = self.first(self.row.result)
        value = value.get("output", value) if isinstance(value, dict) else value
        if not (isinstance(value, dict) or (isinstance(value, str) and "tool_call_id" in value)):
            return None
        said = messages.read(value, ASSISTANT)
        return said[0].results[0] if len(said) == 1 and len(said[0].results) == 1 else None

    def arguments(self) -> dict[str, Any] | None:
        """The arguments of the call; None if they were not recorded."""
        for node in (self, *self.swallowed):
            given = node.first(node.row.arguments)
            if given is None:
                given = node.attributes.get("tool.parameters")
                given = None if _is_schema(decoded(given)) else given
            if given is None:
                given = _of_event(node.span.events, "gen_ai.tool.message", "content")
            if given is None and node.row.name == "claude-code":
                given = _of_claude_code(node.attributes)
            found = decoded(given)
            if isinstance(found, dict):
                return _unwrapped(found)
            if found is not None and found != "":
                return as_arguments(found)
        return None

    def result(self) -> tuple[Any, bool]:
        """The result of the call and whether it says that it failed; None: not recorded."""
        for node in (self, *self.swallowed):
            message = node.tool_message()
            if message is not None:
                return message.value, message.failed
            value = node.first(node.row.result)
            if value is None:
                value = _of_event(node.span.events, "gen_ai.choice", "message")
            if value is None:
                value = _of_event(node.span.events, "tool.output", "output")
            if value is not None:
                found = decoded(value)
                if _is_reply_of_mcp(found) and _is_request_of_mcp(node.first(node.row.arguments)):
                    return _shown(found["result"]), _says_failed(found)
                is_value = isinstance(found, (dict, list))
                return _shown(found if is_value else value), _says_failed(found)
        return None, False

    def has_result(self) -> bool:
        """Whether a span of the call has its result."""
        return self.either("result") is not None or bool(self.span.events)

    # Model calls

    @property
    def model(self) -> str | None:
        """The name of the model."""
        for node in (*self.swallowed, self):
            name = node.first(node.row.model)
            if isinstance(name, str):
                return name
        for names in (self.row.reply, self.row.request):
            body = decoded(self.first(names))  # a body of an API names its model
            if isinstance(body, dict) and isinstance(body.get("model"), str):
                return str(body["model"])
        return None

    @property
    def response_id(self) -> str | None:
        """The id of the response."""
        found = self.either("response_id")
        return found if isinstance(found, str) else None

    def replies(self) -> list[Said]:
        """What the model said."""
        if self._replies is None:
            found: list[Said] = []
            for node in (self, *self.swallowed):
                found = node.content("reply", ASSISTANT)
                if any(said.texts or said.calls for said in found):
                    break
            self._replies = found
        return self._replies

    def requests(self) -> list[Said]:
        """What the model was sent."""
        for node in (self, *self.swallowed):
            found = node.content("request", USER)
            if found:
                return found
        return []

    def content(self, side: str, role: str) -> list[Said]:
        """The messages of one side: spelled out, in one attribute, or in events."""
        row = self.row
        is_request = side == "request"
        for prefix in row.request_list if is_request else row.reply_list:
            listed = nested(self.attributes, prefix)
            if listed:
                return _joined(messages.read(listed, role))
        for name in row.request if is_request else row.reply:
            value = self.attributes.get(name)
            if value not in (None, "", "{}"):
                found = messages.read(value, role)
                if found:
                    return found + _vercel_calls(self.attributes, side)
        return _vercel_calls(self.attributes, side) or _from_events(self.span.events, side, role)

    def asked(self) -> list[Asked]:
        """The calls that the model asked for."""
        return [call for said in self.replies() for call in said.calls]

    def awaits_results(self) -> bool:
        """Whether the model waits for a call; the provider has run some tools itself."""
        answered = {answer.id for said in self.replies() for answer in said.results}
        return any(call.id is None or call.id not in answered for call in self.asked())

    @property
    def tokens(self) -> TokenUsage | None:
        """The usage that has the most details; the inner one of two equal ones."""
        found = [node.own_tokens() for node in (self, *self.swallowed)]
        usages = [usage for usage in reversed(found) if usage is not None]
        return max(usages, key=_details, default=None)

    def own_tokens(self) -> TokenUsage | None:
        """The usage of this span alone."""
        row, model = self.row, self.model
        given = decoded(self.first(row.usage)) if row.usage else None
        if isinstance(given, dict):
            return usage_of(given, model, row.cache_inside)
        return counted(
            model,
            input=number(self.first(row.input)),
            output=number(self.first(row.output)),
            cached=number(self.first(row.cached)),
            written=number(self.first(row.written)),
            reasoning=number(self.first(row.reasoning)),
            # Attributes of the convention beside those of Langfuse include cached tokens.
            cache_inside=row.cache_inside or bool(row.usage),
        )

    @property
    def cost(self) -> float | None:
        """The recorded cost; 0 is not one."""
        for node in (*self.swallowed, self):
            value = decoded(node.first(node.row.cost))
            if isinstance(value, dict):
                value = value.get("total", value.get("total_cost"))
            found = amount(number(value))
            if found:
                return found
        return None


def _details(usage: TokenUsage) -> int:
    parts = (usage.cached_tokens, usage.cache_write_tokens, usage.reasoning_tokens)
    return (usage.total_tokens > 0) + sum(1 for part in parts if part)


def number(value: Any) -> Any:
    """A number that an export wrote as text."""
    if isinstance(value, str):
        try:
            return float(value) if "." in value or "e" in value.lower() else int(value)
        except ValueError:
            return None
    return value


def usage_of(given: dict[str, Any], model: str | None, inside: bool) -> TokenUsage | None:
    """Usage in one object: OpenAI's names, LangChain's, MLflow's, or the parts of Langfuse."""
    flat = dict(given)
    for name in ("input_token_details", "prompt_tokens_details", "input_tokens_details"):
        _spread(flat, name, "input_")
    for name in ("output_token_details", "completion_tokens_details", "output_tokens_details"):
        _spread(flat, name, "output_")

    def pick(*names: str) -> int | None:
        values = (count(number(flat.get(name))) for name in names)
        return next((value for value in values if value is not None), None)

    into = pick("input", "input_tokens", "prompt_tokens", "inputTokens")
    out = pick("output", "output_tokens", "completion_tokens", "outputTokens")
    cached = pick(*_CACHED)
    written = pick(*_WRITTEN)
    reasoning = pick(*_REASONING)
    parts = (cached or 0) + (written or 0) + (reasoning or 0)
    total = pick("total", "total_tokens", "totalTokens")
    disjoint = not inside and "input" in flat and "prompt_details.cache_read" not in flat
    if total is not None and parts:
        disjoint = total == (into or 0) + (out or 0) + parts
    return counted(
        model,
        input=into,
        output=out,
        cached=cached,
        written=written,
        reasoning=reasoning,
        cache_inside=not disjoint,
        reasoning_inside=not disjoint,
    )


_CACHED = (
    "input_cache_read", "input_cached_tokens", "prompt_details.cache_read",
    "cache_read_input_tokens", "input_cached", "cached_input_tokens", "cache_read",
)  # fmt: skip
_WRITTEN = (
    "input_cache_creation", "cache_creation_input_tokens", "input_cache_write_tokens",
    "prompt_details.cache_write", "input_cache_write", "cache_write_input_tokens",
)  # fmt: skip
_REASONING = (
    "output_reasoning", "output_reasoning_tokens", "completion_details.reasoning",
    "reasoning_tokens", "reasoning_output_tokens",
)  # fmt: skip


def _spread(flat: dict[str, Any], name: str, prefix: str) -> None:
    details = flat.pop(name, None)
    if isinstance(details, dict):
        flat |= {f"{prefix}{key}": value for key, value in details.items()}


# The SDK of MCP calls the span of its client `MCP send tools/call search`.
_STARTS = (
    "execute_tool ", "running tool: ", "invoke_agent ", "MCP send ", "tools/call ", "tool.",
)  # fmt: skip


def _bare(name: str) -> str:
    """`execute_tool search`, `running tool: search`, `tool.search`, `search.tool`: `search`."""
    for start in _STARTS:
        name = name.removeprefix(start)
    for start in ("agent_run [", "invocation ["):
        if name.startswith(start) and name.endswith("]"):
            name = name[len(start) : -1]
    return name.removesuffix(".tool").removesuffix(".agent").strip()


def _is_schema(value: Any) -> bool:
    """Whether it describes the parameters of a tool, and is not the arguments of a call."""
    if not isinstance(value, dict) or not value:
        return not value
    if isinstance(value.get("properties"), dict) or "$schema" in value:
        return True
    described = [item for item in value.values() if isinstance(item, dict) and "type" in item]
    return len(described) == len(value)


def _unwrapped(found: dict[str, Any]) -> dict[str, Any]:
    """Arguments without what some libraries put around them."""
    if {"args", "kwargs"} <= found.keys() and isinstance(found["kwargs"], dict):
        args = found["args"]  # the call of a Python function, by OpenInference
        return {**found["kwargs"], **({"args": args} if args else {})}
    if found.keys() == {"kwargs"} and isinstance(found["kwargs"], dict):
        return dict(found["kwargs"])  # the same, of LlamaIndex
    if _is_request_of_mcp(found):
        return dict(found["arguments"])
    inner = decoded(found.get("input"))
    if set(found) == {"input"} and isinstance(inner, dict):
        return inner
    if "input_str" in found:
        inner = decoded(found["input_str"])
        kept = found.get("inputs", inner)
        return kept if isinstance(kept, dict) else {"input": inner}
    return found


def _is_request_of_mcp(value: Any) -> bool:
    """Whether it is `{"tool_name": …, "arguments": {…}}`, as Traceloop shows a call of MCP."""
    value = decoded(value)
    if not isinstance(value, dict) or value.keys() != {"tool_name", "arguments"}:
        return False
    return isinstance(value["arguments"], dict)


def _is_reply_of_mcp(value: Any) -> bool:
    return isinstance(value, dict) and {"result"} <= value.keys() <= {"result", "is_error"}


def _shown(value: Any) -> Any:
    """A result without the envelope of MCP or LlamaIndex around it."""
    if isinstance(value, dict) and value.keys() >= _LLAMA_INDEX:
        return messages.plain(value["raw_output"])
    if isinstance(value, dict) and isinstance(value.get("content"), list) and set(value) <= _MCP:
        return messages.plain(value["content"])
    return messages.plain(value)


_LLAMA_INDEX = frozenset({"tool_name", "raw_input", "raw_output", "is_error"})
_MCP = frozenset({"content", "isError", "is_error", "structuredContent", "meta", "_meta"})


def _says_failed(value: Any) -> bool:
    return isinstance(value, dict) and (
        value.get("isError") is True
        or value.get("is_error") is True
        or value.get("status") == "error"
    )


def _of_claude_code(attributes: dict[str, Any]) -> dict[str, Any] | None:
    """What a span of Claude Code says of the arguments, where no log record has them."""
    names = {"full_command": "command", "file_path": "file_path"}
    found = {name: attributes[key] for key, name in names.items() if key in attributes}
    return found or None


def _of_event(events: list[Event], name: str, key: str) -> Any:
    for event in events:
        if event.name == name:
            source = event.body if isinstance(event.body, dict) else event.attributes
            value = source.get(key)
            if value is not None:
                return value
    return None


def _vercel_calls(attributes: dict[str, Any], side: str) -> list[Said]:
    if side != "reply" or "ai.response.toolCalls" not in attributes:
        return []
    return messages.read(attributes["ai.response.toolCalls"], ASSISTANT)


def _joined(found: list[Said]) -> list[Said]:
    """A streamed reply that was recorded piece by piece, as one message."""
    if len(found) < 20 or any(said.role != ASSISTANT or said.calls for said in found):
        return found
    whole = Said(ASSISTANT)
    whole.texts.append("".join(said.text for said in found))
    return [whole]


_REQUEST_EVENTS = {
    "gen_ai.system.message": messages.SYSTEM,
    "gen_ai.user.message": USER,
    "gen_ai.assistant.message": ASSISTANT,
    "gen_ai.tool.message": messages.TOOL,
}
_CONTENT_EVENTS = {
    "request": (("gen_ai.content.prompt", "gen_ai.prompt"),),
    "reply": (("gen_ai.content.completion", "gen_ai.completion"),),
}
_DETAILS = "gen_ai.client.inference.operation.details"


def _from_events(events: list[Event], side: str, role: str) -> list[Said]:
    """Messages in events of the span or in log records that belong to it."""
    found: list[Said] = []
    for event in events:
        body = event.body if isinstance(event.body, dict) else {}
        source = {**event.attributes, **body}
        if event.name == _DETAILS:
            name = "gen_ai.input.messages" if side == "request" else "gen_ai.output.messages"
            found += messages.read(source.get(name), role)
        elif side == "request" and event.name in _REQUEST_EVENTS:
            found += messages.read([_message(source, _REQUEST_EVENTS[event.name])], role)
        elif side == "reply" and event.name == "gen_ai.choice":
            inner = decoded(source.get("message", source))
            found += messages.read([inner] if isinstance(inner, dict) else inner, role)
        else:
            for name, key in _CONTENT_EVENTS[side]:
                if event.name == name:
                    found += messages.read(source.get(key), role)
    return found


def _message(source: dict[str, Any], role: str) -> dict[str, Any]:
    item = {"role": role, **source}
    if role == messages.TOOL and "id" in source:
        item["tool_call_id"] = source["id"]
    return item
