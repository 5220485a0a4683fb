"""What the reply of an address says beside its answer: tokens and tool calls."""

from __future__ import annotations

from typing import Any

from trialrun.agents.base import Failure
from trialrun.agents.running.answers import reported_error
from trialrun.agents.running.reply_text import BOM
from trialrun.util import strict_json
from trialrun.util.texts import excerpt


def from_api(text: str) -> dict[str, Any] | Failure:
    """The answer, the tokens and the calls in a reply of one of OpenAI's APIs."""
    from trialrun.capture.replies import trace_of_reply

    try:
        value = strict_json.decode(text.lstrip(BOM))
    except (ValueError, RecursionError) as error:
        said = excerpt(text[:2000])
        return Failure(message=f"the reply is not JSON: {error}; it says {said}")
    reported = reported_error(value) if isinstance(value, dict) else None
    if reported is not None:
        return reported
    trace = trace_of_reply(value)
    if trace is None:
        return Failure(
            message=f"the reply is {excerpt(text[:2000])}, expected `choices` with a message "
            "(api: openai) or `output` (api: responses)"
        )
    return {"output": None, **trace.to_dict()}


def with_details(
    found: dict[str, Any], text: str, usage: str | None, tool_calls: str | None
) -> dict[str, Any]:
    """The answer with the tokens and calls at these paths; what is not there was not recorded."""
    from trialrun.capture.replies import details

    if "steps" in found:  # the agent has given a trace of its own
        return found
    value = strict_json.decode(text.lstrip(BOM))
    model = value.get("model") if isinstance(value, dict) else None
    more = details(value_at(value, usage), value_at(value, tool_calls), model)
    return {**found, **more}


def value_at(value: Any, path: str | None) -> Any:
    """The value at a path such as `choices.0.message.tool_calls`; None if there is none."""
    for part in path.split(".") if path is not None else ():
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value if path is not None else None
