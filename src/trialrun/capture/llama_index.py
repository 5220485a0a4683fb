"""Results of LlamaIndex's agents, queries and chats, understood by their shape."""

from __future__ import annotations

from typing import Any

from trialrun.capture.plain_objects import plain
from trialrun.importers._values import name_of
from trialrun.importers.base import TraceBuilder
from trialrun.model.evidence import (
    ANSWER,
    HANDOFFS,
    RETRIEVALS,
    TIMINGS,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
)
from trialrun.model.trace import Trace

_PARTS = ("response", "tool_calls", "current_agent_name")
# The result has neither the replies before the last one nor their usage.
_CARRIES = frozenset({ANSWER, TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS, HANDOFFS, TIMINGS})
_OF_CALLS = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
_PLAIN = (str, int, float, bool, dict, list)


def is_agent_output(value: Any) -> bool:
    """Whether it has what an `AgentOutput` has."""
    if isinstance(value, (type, dict)) or not all(hasattr(value, name) for name in _PARTS):
        return False
    return isinstance(value.tool_calls, (list, tuple))


def agent_output_trace(result: Any) -> Trace:
    """The trace: all calls of the run with their results, and the answer."""
    builder = TraceBuilder("llama_index")
    for call in result.tool_calls:
        name, arguments = str(call.tool_name), plain(call.tool_kwargs)
        if name == "handoff" and isinstance(arguments, dict) and "to_agent" in arguments:
            builder.handoff(str(arguments["to_agent"]))
            continue
        _add_call(builder, name, arguments, getattr(call, "tool_output", None))
    structured = getattr(result, "structured_response", None)
    answer = structured if structured is not None else getattr(result.response, "content", None)
    builder.say(plain(answer) if answer is not None else str(result))
    builder.fields["agent_name"] = name_of(result.current_agent_name)
    return builder.trace(_CARRIES)


def is_response(value: Any) -> bool:
    """Whether it has what a `Response` of a query or an `AgentChatResponse` has."""
    if isinstance(value, (type, dict)) or not hasattr(value, "response"):
        return False
    return isinstance(getattr(value, "source_nodes", None), list)


def response_trace(result: Any) -> Trace:
    """The trace: what was found in an index, the calls of a chat, and the answer."""
    builder = TraceBuilder("llama_index")
    sources = getattr(result, "sources", None)
    for output in sources or ():
        given = plain(output.raw_input)
        arguments = given.get("kwargs", given) if isinstance(given, dict) else given
        _add_call(builder, str(output.tool_name), arguments, output)
    if result.source_nodes:
        builder.retrieval("", [plain(node.get_content()) for node in result.source_nodes])
    builder.say(plain(result.response))
    return builder.trace({ANSWER, RETRIEVALS} | (_OF_CALLS if sources is not None else set()))


def _add_call(builder: TraceBuilder, name: str, arguments: Any, output: Any) -> None:
    draft = builder.call(name, arguments, alone=True)
    if output is not None:
        builder.result(draft, _result(output), failed=getattr(output, "is_error", False) is True)


def _result(output: Any) -> Any:
    """What the tool returned; the text that the model was given where it is another object."""
    value = plain(getattr(output, "raw_output", None))
    return value if isinstance(value, _PLAIN) else getattr(output, "content", None)
