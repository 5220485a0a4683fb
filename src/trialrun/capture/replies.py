"""Replies of addresses: what they say about the tokens and the tool calls of an agent."""

from __future__ import annotations

from typing import Any

from trialrun.importers._api_usage import api_usage
from trialrun.importers._blocks import Part, Result, calls_of
from trialrun.importers._items import is_item, item_parts
from trialrun.importers._messages import Conversation
from trialrun.importers._values import dicts_in, name_of
from trialrun.importers._wire import add_response, is_body, is_responses_body
from trialrun.importers.base import TraceBuilder
from trialrun.model.evidence import ANSWER, COSTS, TOKENS, TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS
from trialrun.model.trace import Trace

_CALLS = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
_USED = frozenset({TOKENS, COSTS})


def trace_of_reply(body: Any) -> Trace | None:
    """The trace in a reply of one of OpenAI's APIs; None if it is none.

    The server may have called models and tools of which the reply says nothing: calls count as
    recorded only where the reply has a list of them.
    """
    if not is_body(body):
        return None
    builder = TraceBuilder("reply")
    conversation = Conversation(builder)
    add_response(conversation, body)
    conversation.finish()
    lists_calls = is_responses_body(body) or any(
        isinstance(choice.get("message"), dict)
        and isinstance(choice["message"].get("tool_calls"), list)
        for choice in dicts_in(body.get("choices"))
    )
    return builder.trace(_USED | {ANSWER} | (_CALLS if lists_calls else frozenset()))


def details(usage: Any, calls: Any, model: Any) -> dict[str, Any]:
    """Fields of a trace: steps, and which kinds of evidence they are."""
    builder = TraceBuilder("reply")
    conversation = Conversation(builder)
    name = name_of(model)
    parts = _parts(calls) if isinstance(calls, list) else []
    conversation.in_history = api_usage(usage, name) is None  # then there is no model call
    conversation.reply(parts, usage=usage, model=name)
    trace = builder.trace(_USED | (_CALLS if isinstance(calls, list) else frozenset()))
    plain = trace.to_dict()
    return {
        "steps": plain.get("steps", []),
        "recorded": sorted(trace.recorded | {ANSWER}),
    }


def _parts(calls: list[Any]) -> list[Part]:
    """Calls in the shape of OpenAI, LangChain or items, each with its result if it has one."""
    found: list[Part] = []
    for number, item in enumerate(dicts_in(calls)):
        if is_item(item):
            found += item_parts(item)
            continue
        for call in calls_of({"tool_calls": [item]}):
            key = call.key or f"call-{number}"
            found.append(call._replace(key=key))
            results = [item[name] for name in ("result", "output") if item.get(name) is not None]
            error = name_of(item.get("error"))
            if results or error is not None:
                found.append(Result(key, results[0] if results else None, error=error))
    return found
