"""Run results of the OpenAI Agents SDK, understood by their shape."""

from __future__ import annotations

from typing import Any

from trialrun.capture.plain_objects import plain
from trialrun.errors import TraceError
from trialrun.importers._items import is_item, item_parts, output_result
from trialrun.importers._messages import Conversation
from trialrun.importers._values import dicts_in, name_of
from trialrun.importers._wire import CARRIES
from trialrun.importers.base import TraceBuilder
from trialrun.model.evidence import HANDOFFS
from trialrun.model.trace import Trace

_PARTS = ("new_items", "raw_responses", "final_output", "input")


def is_run_result(value: Any) -> bool:
    """Whether it has what a `RunResult` has."""
    if isinstance(value, (type, dict)):
        return False
    return all(hasattr(value, name) for name in _PARTS)


def run_result_trace(result: Any) -> Trace:
    """The trace of a run: its responses with their usage, results of tools, handoffs."""
    if getattr(result, "is_complete", True) is False:
        raise TraceError(
            "the run has not ended: read the stream before you return the result "
            "(async for event in result.stream_events(): …)"
        )
    builder = TraceBuilder("openai_agents")
    conversation = Conversation(builder)
    given = plain(result.input)
    asked = given if isinstance(given, list) else [{"role": "user", "content": str(given)}]
    conversation.add_all(asked)
    items = list(result.new_items)
    handoffs, agents = _handoffs(items), _agents(items)
    for response in result.raw_responses:
        output = [item for item in dicts_in(plain(response.output)) if is_item(item)]
        keys = [key for item in output if (key := _key(item)) is not None]
        agent = next((agents[key] for key in keys if key in agents), None)
        calls = [item for item in output if _key(item) not in handoffs]
        conversation.reply(
            [part for item in calls for part in item_parts(item)],
            model=_model(agent),
            key=name_of(getattr(response, "response_id", None)),
            usage=plain(getattr(response, "usage", None)),
            agent=name_of(getattr(agent, "name", None)),
        )
        for key in keys:
            if key in handoffs:
                builder.handoff(handoffs[key])
    for item in items:
        if _type(item) == "tool_call_output_item":
            conversation.result(output_result(_raw(item)))
    conversation.finish()
    if result.final_output is not None:
        builder.say(plain(result.final_output))
    return builder.trace(CARRIES | {HANDOFFS})


def _type(item: Any) -> str:
    return str(getattr(item, "type", ""))


def _raw(item: Any) -> dict[str, Any]:
    raw = plain(getattr(item, "raw_item", None))
    return raw if isinstance(raw, dict) else {}


def _key(item: dict[str, Any]) -> str | None:
    return name_of(item.get("call_id")) or name_of(item.get("id"))


def _handoffs(items: list[Any]) -> dict[str, str]:
    """The agents to which the work was handed, by the call that did it."""
    found = {}
    for item in items:
        key = _key(_raw(item))
        if _type(item) == "handoff_output_item" and key is not None:
            found[key] = str(getattr(getattr(item, "target_agent", None), "name", "unnamed"))
    return found


def _agents(items: list[Any]) -> dict[str, Any]:
    """The agents that made items, by the keys of the items."""
    outputs = ("tool_call_output_item", "handoff_output_item")
    made = [item for item in items if _type(item) not in outputs]
    keys = [(_key(_raw(item)), getattr(item, "agent", None)) for item in made]
    return {key: agent for key, agent in keys if key is not None and agent is not None}


def _model(agent: Any) -> str | None:
    """The name of the agent's model: a text, or an object that has it."""
    model = getattr(agent, "model", None)
    return name_of(model) or name_of(getattr(model, "model", None))
