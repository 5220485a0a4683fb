"""What a runner may return: the results of frameworks and model APIs, understood by their shape.

A state of LangGraph or a list of messages, a run result of pydantic-ai, the OpenAI Agents SDK,
CrewAI or LlamaIndex, a response of OpenAI or Anthropic, a message of LangChain, events of Google
ADK. They are read by the importers of the same formats; no framework is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trialrun.capture.agents_sdk import is_run_result, run_result_trace
from trialrun.capture.crewai import crew_trace, is_crew_result
from trialrun.capture.llama_index import (
    agent_output_trace,
    is_agent_output,
    is_response,
    response_trace,
)
from trialrun.capture.plain_objects import fields_of, plain
from trialrun.errors import Problem
from trialrun.importers._messages import role_of
from trialrun.importers._values import dicts_in
from trialrun.importers._wire import is_chat_body, is_messages_body
from trialrun.importers.base import Importer, Source
from trialrun.model.trace import ANSWER, StepType, Trace

_READERS = (
    "pydantic_ai",
    "langchain_messages",
    "openai_responses",
    "anthropic_messages",
    "openai_chat",
    "autogen",
    "google_adk",
)
"""The importers that read what frameworks return, in the order in which they are asked."""


_OBJECTS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Trace]], ...] = (
    (is_run_result, run_result_trace),
    (is_crew_result, crew_trace),
    (is_agent_output, agent_output_trace),
    (is_response, response_trace),
)
"""Results other than messages: what they look like, and what reads them."""


def load_readers() -> None:
    """Import all readers, so that copies of this process have them."""
    for name in _READERS:
        _importer(name)


def trace_of(value: Any, question: str | None = None) -> Trace | None:
    """The trace in what a runner returned; None if it is not understood.

    `question` is what the runner was asked: messages before it are of earlier turns.
    """
    value = _unwrapped(value)
    reader = next((read for fits, read in _OBJECTS if fits(value)), None)
    if reader is not None:
        found: Trace | None = reader(value)
    elif (messages := _new_messages(value)) is not None:
        found = _read(messages)
        _answer_with(found, getattr(value, "output", None))
    else:
        found = _read_shape(value)
    return None if found is None else _since(found, question)


def _unwrapped(value: Any) -> Any:
    """The state in a `GraphOutput` of LangGraph."""
    if hasattr(value, "interrupts") and hasattr(value, "value"):
        return value.value
    return value


def _new_messages(value: Any) -> Any:
    """The messages of a run of pydantic-ai, without the history that it was given."""
    method = getattr(value, "new_messages", None)
    if isinstance(value, type) or not callable(method) or not hasattr(value, "output"):
        return None
    return plain(method())


def _read_shape(value: Any) -> Trace | None:
    """Messages, states, responses and events."""
    if isinstance(value, (list, tuple)):
        return _read_list([plain(item) for item in value])
    fields = dict(value) if isinstance(value, dict) else fields_of(value)
    if fields is None:
        return None
    if isinstance(fields.get("messages"), (list, tuple)):
        # A state may hold anything beside its messages.
        messages = _with_usage(plain(list(fields["messages"])), plain(fields.get("responses")))
        found = _read({"messages": messages})
        _answer_with(found, fields.get("structured_response"))
        return found
    if isinstance(fields.get("events"), list):
        return _read_list(plain(fields["events"]))
    return _only_the_answer(_read_list([plain(fields)]))


def _with_usage(messages: list[Any], responses: Any) -> list[Any]:
    """Messages of a loop written by hand, with the model and the tokens of the responses.

    The last response need not be among the messages, and messages of earlier turns may be.
    """
    bodies = [body for body in dicts_in(responses) if is_chat_body(body) or is_messages_body(body)]
    said = [dict(_message_in(body)) for body in bodies]
    places = [n for n, message in enumerate(messages) if role_of(message) == "assistant"]
    if said and places and places[-1] != len(messages) - 1:
        messages, places = [*messages, said[-1]], [*places, len(messages)]
    found = dict(zip(reversed(places), reversed(bodies), strict=False))
    return [
        {**message, **{name: found[n].get(name) for name in ("model", "usage")}}
        if n in found
        else message
        for n, message in enumerate(messages)
    ]


def _message_in(body: dict[str, Any]) -> dict[str, Any]:
    return body["choices"][0]["message"] if is_chat_body(body) else body


def _read_list(items: list[Any]) -> Trace | None:
    if items and all(isinstance(item, dict) and "author" in item for item in items):
        return _read({"events": items})
    return _read(items)


def _read(value: Any) -> Trace | None:
    """The trace that one of the importers reads from the value."""
    source = Source.of_value(value, "answer")
    for name in _READERS:
        importer = _importer(name)
        if importer is None or not importer.recognises(source):
            continue
        found = [item for item in importer.records(source) if not isinstance(item, Problem)]
        if len(found) == 1:
            trace = found[0][0]
            trace.name = None
            return trace
    return None


def _importer(name: str) -> Importer | None:
    from trialrun.registry import IMPORTERS, find

    kind: Callable[[], Importer] | None = find(IMPORTERS, name)
    return None if kind is None else kind()


def _only_the_answer(trace: Trace | None) -> Trace | None:
    """A single response: the agent may have made other calls, of which it shows nothing."""
    if trace is not None:
        trace.recorded &= {ANSWER}
    return trace


def _answer_with(trace: Trace | None, output: Any) -> None:
    """The answer that the framework itself names, such as an object of the output type."""
    if trace is not None and output is not None:
        trace.output = plain(output)
        trace.recorded |= {ANSWER}


def _since(trace: Trace, question: str | None) -> Trace:
    """The trace since the last time that the question was asked, without earlier turns."""
    if question is None:
        return trace
    asked = question.strip()
    for number in range(len(trace.steps) - 1, -1, -1):
        step = trace.steps[number]
        if step.type is StepType.HUMAN_INPUT and (step.input or "").strip() == asked:
            trace.steps = list(trace.steps[number + 1 :])
            break
    return trace
