"""The table of dialects: which attribute of which tracing library says what.

A row is found by the scope of a span, or by an attribute that only this dialect has (many exports
leave the scope out). What a row does not have is looked up under the names of OpenTelemetry's
convention for generative AI, current and deprecated.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct


class Operation(Enum):
    """What a span shows. Everything that is not one of the others is structure."""

    INFERENCE = "model call"
    TOOL = "tool call"
    AGENT = "agent"
    CREATION = "creation of an agent"
    RETRIEVAL = "retrieval"
    GUARDRAIL = "guardrail"
    HANDOFF = "handoff"
    STRUCTURE = "structure"


INFERENCE, TOOL, AGENT = Operation.INFERENCE, Operation.TOOL, Operation.AGENT
CREATION, STRUCTURE = Operation.CREATION, Operation.STRUCTURE
RETRIEVAL, GUARDRAIL, HANDOFF = Operation.RETRIEVAL, Operation.GUARDRAIL, Operation.HANDOFF

Names = tuple[str, ...]


class Dialect(Struct, frozen=True):
    """One row. Each field has names of attributes; the first that a span has is taken."""

    name: str
    scopes: Names = ()  # beginnings of scope names
    marks: Names = ()  # attributes that no other dialect has
    kind: Names = ()  # where the operation is
    operations: dict[str, Operation] = {}  # its values, in lower case
    spans: dict[str, Operation] = {}  # names of spans that say what they are
    helpers: Names = ()  # ends of names of spans that claim to be a call and are none
    tool: Names = ()
    arguments: Names = ()
    result: Names = ()
    call_id: Names = ()
    model: Names = ()
    response_id: Names = ()
    request: Names = ()  # messages to the model, or what an agent was asked
    reply: Names = ()  # messages of the model, or what an agent answered
    request_list: Names = ()  # the same, spelled out: `gen_ai.prompt.0.role`
    reply_list: Names = ()
    agent: Names = ()
    input: Names = ()
    output: Names = ()
    cached: Names = ()
    written: Names = ()
    reasoning: Names = ()
    usage: Names = ()  # one attribute with all counts
    cost: Names = ()
    cache_inside: bool = True  # the input includes cached tokens


_INFERENCES = ("chat", "text_completion", "generate_content", "completion", "message", "responses")

CONVENTION = Dialect(
    name="gen_ai",
    kind=("gen_ai.operation.name",),
    operations={
        **dict.fromkeys(_INFERENCES, INFERENCE),
        "execute_tool": TOOL,
        "invoke_agent": AGENT,
        "handle_conversation_turn": AGENT,
        "invoke_workflow": AGENT,
        "create_agent": CREATION,
        "retrieval": RETRIEVAL,
        "handoff": HANDOFF,
        "agent_handoff": HANDOFF,
        "guardrail": GUARDRAIL,
    },
    tool=("gen_ai.tool.name", "tool.name", "tool_name"),
    arguments=("gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "tool_arguments"),
    result=("gen_ai.tool.call.result", "gen_ai.tool.result", "tool_response"),
    call_id=("gen_ai.tool.call.id",),
    model=("gen_ai.response.model", "gen_ai.request.model"),
    response_id=("gen_ai.response.id",),
    request=("gen_ai.input.messages", "gen_ai.prompt", "events"),
    reply=("gen_ai.output.messages", "gen_ai.completion"),
    request_list=("gen_ai.prompt.",),
    reply_list=("gen_ai.completion.",),
    agent=("gen_ai.agent.name",),
    input=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    output=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    cached=(
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.cached_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "gen_ai.usage.details.cached_tokens",
    ),
    written=(
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write_input_tokens",
        "gen_ai.usage.details.cache_write_tokens",
    ),
    reasoning=(
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "llm.usage.reasoning_tokens",
        "codex.usage.reasoning_output_tokens",
    ),
    cost=("operation.cost", "gen_ai.usage.cost", "cost_usd"),
)

OPENINFERENCE_KINDS = {
    "llm": INFERENCE, "tool": TOOL, "agent": AGENT, "retriever": RETRIEVAL,
    "guardrail": GUARDRAIL, "chain": STRUCTURE, "embedding": STRUCTURE, "reranker": STRUCTURE,
    "evaluator": STRUCTURE, "prompt": STRUCTURE,
}  # fmt: skip

_LANGFUSE = {
    "generation": INFERENCE, "tool": TOOL, "agent": AGENT, "retriever": RETRIEVAL,
    "guardrail": GUARDRAIL, "chain": STRUCTURE, "embedding": STRUCTURE,
    "evaluator": STRUCTURE, "event": STRUCTURE,
}  # fmt: skip

_LANGSMITH = {
    "llm": INFERENCE, "tool": TOOL, "agent": AGENT, "retriever": RETRIEVAL,
    "chain": STRUCTURE, "prompt": STRUCTURE, "parser": STRUCTURE, "embedding": STRUCTURE,
}  # fmt: skip

_VERCEL = {
    "ai.generatetext": AGENT, "ai.streamtext": AGENT, "ai.generateobject": AGENT,
    "ai.streamobject": AGENT, "ai.generatetext.dogenerate": INFERENCE,
    "ai.streamtext.dostream": INFERENCE, "ai.generateobject.dogenerate": INFERENCE,
    "ai.streamobject.dostream": INFERENCE, "ai.toolcall": TOOL,
}  # fmt: skip

_TRACELOOP = {
    "tool": TOOL, "agent": AGENT, "workflow": AGENT, "task": STRUCTURE,
    "chat": INFERENCE, "completion": INFERENCE,
}  # fmt: skip

ROWS = (
    Dialect(
        name="pydantic-ai",
        scopes=("pydantic-ai",),
        # Before version 2 the spans were named by their text.
        spans={"running tool": TOOL, "agent run": AGENT, "running tools": STRUCTURE},
        arguments=("tool_arguments",),
        result=("tool_response",),
        request=("pydantic_ai.all_messages", "all_messages_events"),
        reply=("final_result",),
        agent=("agent_name",),
    ),
    Dialect(
        name="adk",
        scopes=("gcp.vertex.agent",),
        marks=("gcp.vertex.agent.event_id", "gcp.vertex.agent.llm_request"),
        spans={"call_llm": INFERENCE, "invocation": STRUCTURE, "agent_run": AGENT},
        arguments=("gcp.vertex.agent.tool_call_args",),
        result=("gcp.vertex.agent.tool_response",),
        request=("gcp.vertex.agent.llm_request",),
        reply=("gcp.vertex.agent.llm_response",),
    ),
    Dialect(
        name="anthropic-sdk",
        scopes=("com.anthropic.sdk", "com.anthropic.claude-platform"),
        result=("anthropic.tool_result.content",),
    ),
    Dialect(
        name="claude-code",
        scopes=("com.anthropic.claude_code",),
        spans={
            "claude_code.interaction": AGENT,
            "claude_code.llm_request": INFERENCE,
            "claude_code.tool": TOOL,
            "claude_code.tool.execution": STRUCTURE,
            "claude_code.tool.blocked_on_user": STRUCTURE,
        },
        tool=("tool_name",),
        arguments=("tool_input",),
        call_id=("tool_use_id",),
        model=("model",),
        response_id=("request_id",),
        request=("user_prompt",),
        reply=("response",),
        input=("input_tokens",),
        output=("output_tokens",),
        cached=("cache_read_tokens", "cache_read_input_tokens"),
        written=("cache_creation_tokens", "cache_creation_input_tokens"),
        cache_inside=False,
    ),
    Dialect(
        name="mcp",
        scopes=("mcp-python-sdk", "mcp"),
        marks=("mcp.method.name",),
        kind=("mcp.method.name",),
        operations={"tools/call": TOOL},
        tool=("mcp.tool.name",),
    ),
    Dialect(
        name="langfuse",
        scopes=("langfuse-sdk",),
        marks=("langfuse.observation.type",),
        kind=("langfuse.observation.type",),
        operations=_LANGFUSE,
        tool=("ai.toolCall.name",),
        arguments=("langfuse.observation.input",),
        result=("langfuse.observation.output",),
        call_id=("ai.toolCall.id",),
        model=("langfuse.observation.model.name",),
        request=("langfuse.observation.input",),
        reply=("langfuse.observation.output",),
        agent=("agent.name", "graph.node.id"),
        usage=("langfuse.observation.usage_details",),
        cost=("langfuse.observation.cost_details",),
        cache_inside=False,
    ),
    Dialect(
        name="langsmith",
        scopes=("langsmith",),
        marks=("langsmith.span.kind",),
        kind=("langsmith.span.kind",),
        operations=_LANGSMITH,
        arguments=("gen_ai.prompt",),
        result=("gen_ai.completion",),
        model=("gen_ai.response.model", "langsmith.metadata.ls_model_name"),
        usage=("langsmith.usage_metadata", "langsmith.metadata.usage_metadata"),
    ),
    Dialect(
        name="vercel",
        scopes=("ai",),
        marks=("ai.operationId",),
        kind=("ai.operationId",),
        operations=_VERCEL,
        tool=("ai.toolCall.name",),
        arguments=("ai.toolCall.args", "ai.toolCall.input"),
        result=("ai.toolCall.result", "ai.toolCall.output"),
        call_id=("ai.toolCall.id",),
        model=("ai.response.model", "ai.model.id"),
        response_id=("ai.response.id",),
        request=("ai.prompt.messages", "ai.prompt"),
        reply=("ai.response.text", "ai.response.object", "ai.result.text"),
        agent=("ai.telemetry.functionId",),
        input=("ai.usage.inputTokens", "ai.usage.promptTokens"),
        output=("ai.usage.outputTokens", "ai.usage.completionTokens"),
        cached=("ai.usage.cachedInputTokens", "ai.usage.inputTokenDetails.cacheReadTokens"),
        written=("ai.usage.inputTokenDetails.cacheWriteTokens",),
        reasoning=("ai.usage.reasoningTokens", "ai.usage.outputTokenDetails.reasoningTokens"),
    ),
    Dialect(
        name="mlflow",
        scopes=("mlflow",),
        marks=("mlflow.spanType",),
        kind=("mlflow.spanType",),
        operations={**OPENINFERENCE_KINDS, "chat_model": INFERENCE, "parser": STRUCTURE},
        arguments=("mlflow.spanInputs",),
        result=("mlflow.spanOutputs",),
        model=("mlflow.llm.model", "gen_ai.response.model", "mlflow.chat.model"),
        request=("mlflow.spanInputs",),
        reply=("mlflow.spanOutputs",),
        usage=("mlflow.chat.tokenUsage",),
        cost=("mlflow.llm.cost",),
    ),
    Dialect(
        name="openinference",
        scopes=("openinference", "@arizeai/openinference"),
        marks=("openinference.span.kind",),
        kind=("openinference.span.kind",),
        operations=OPENINFERENCE_KINDS,
        helpers=("._prepare_chat_with_tools",),  # of LlamaIndex: it makes the request only
        tool=("tool.name",),
        arguments=("input.value",),
        result=("output.value",),
        call_id=("tool_call.id", "tool.id"),
        model=("llm.model_name",),
        request=("input.value",),
        reply=("output.value",),
        request_list=("llm.input_messages.",),
        reply_list=("llm.output_messages.",),
        agent=("agent.name", "graph.node.id"),
        input=("llm.token_count.prompt",),
        output=("llm.token_count.completion",),
        cached=("llm.token_count.prompt_details.cache_read",),
        written=("llm.token_count.prompt_details.cache_write",),
        reasoning=("llm.token_count.completion_details.reasoning",),
        cost=("llm.cost.total",),
    ),
    Dialect(
        name="traceloop",
        scopes=("opentelemetry.instrumentation", "traceloop", "@traceloop"),
        marks=("traceloop.span.kind", "llm.request.type"),
        kind=("traceloop.span.kind", "llm.request.type"),
        operations=_TRACELOOP,
        tool=("traceloop.entity.name",),
        arguments=("traceloop.entity.input",),
        result=("traceloop.entity.output",),
        request=("traceloop.entity.input",),
        reply=("traceloop.entity.output", "crewai.crew.result"),
    ),
    Dialect(name="openai-agents", scopes=("openai-agents",), usage=("openai_agents.usage",)),
    Dialect(name="autogen", scopes=("autogen-core", "autogen")),
)


def _with_convention(row: Dialect) -> Dialect:
    """The row, with the names of the convention behind its own."""
    merged: dict[str, Any] = {}
    for field in msgspec.structs.fields(Dialect):
        own, theirs = getattr(row, field.name), getattr(CONVENTION, field.name)
        if isinstance(own, tuple) and field.name not in ("scopes", "marks", "kind"):
            merged[field.name] = tuple(dict.fromkeys((*own, *theirs)))
    return msgspec.structs.replace(row, **merged)


_ALL = tuple(_with_convention(row) for row in ROWS)
_BY_MARK = {mark: row for row in reversed(_ALL) for mark in row.marks}
MARKS = frozenset(_BY_MARK)


@cache
def _by_scope(scope: str) -> Dialect | None:
    for row in _ALL:
        for name in row.scopes:
            if scope == name or scope.startswith((f"{name}.", f"{name}-", f"{name}/")):
                return row
    return None


def dialect_of(scope: str, attributes: dict[str, Any]) -> Dialect:
    """The row for a span. An attribute of a dialect tells more than a general scope.

    (Langfuse exports what other libraries recorded, with its own attributes beside theirs.)
    """
    marks = MARKS & attributes.keys()
    if marks:
        row = _by_scope(scope)
        if row is not None and (not row.marks or marks & set(row.marks)):
            return row
        return min((_BY_MARK[mark] for mark in marks), key=_ALL.index)
    return _by_scope(scope) or CONVENTION


def operation_of(row: Dialect, name: str, attributes: dict[str, Any]) -> Operation:
    """What a span shows, by its dialect and then by the convention."""
    if row.helpers and name.endswith(row.helpers):
        return STRUCTURE
    found = _by_kind(row, attributes)
    if found is TOOL and name.startswith("handoff to ") and "tool.name" not in attributes:
        return HANDOFF  # OpenInference has no kind for it
    if found is None and row.spans:
        # "running tool: search", "agent_run [a]"
        found = row.spans.get(name.partition(" [")[0].partition(":")[0])
    if found is None:
        marks = MARKS & attributes.keys()
        others = (_BY_MARK[mark] for mark in marks) if len(marks) > 1 else ()
        for table in (*others, CONVENTION):
            found = found or _by_kind(table, attributes)
    return found or _by_content(attributes)


def _by_kind(table: Dialect, attributes: dict[str, Any]) -> Operation | None:
    for attribute in table.kind:
        value = attributes.get(attribute)
        if isinstance(value, str):
            found = table.operations.get(value.lower())
            if found is not None:
                return found
    return None


_CALL_CONTENT = frozenset(
    {"gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "input.value"}
)
_MODEL_CONTENT = frozenset(
    {"gen_ai.completion.0.role", "gen_ai.completion.0.content", "gen_ai.response.id"}
)


def _by_content(attributes: dict[str, Any]) -> Operation:
    """A span without an operation, by what it carries; `gen_ai.` alone proves nothing."""
    if "gen_ai.operation.name" in attributes:
        return STRUCTURE  # an operation that is not known
    keys = attributes.keys()
    if "gen_ai.tool.name" in attributes and not _CALL_CONTENT.isdisjoint(keys):
        return TOOL
    if "gen_ai.request.model" in attributes and not _MODEL_CONTENT.isdisjoint(keys):
        return INFERENCE
    return STRUCTURE
