"""Read sessions of Google's Agent Development Kit: a list of events in one JSON document.

Names are in snake case or camel case, depending on how the session was exported. Events without
content only change the state. Model calls are recorded as such only where events have their usage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._usage import from_provider
from trialrun.importers._values import name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import COSTS, EVIDENCE, LLM_CALLS, TOKENS


class GoogleAdkImporter(Importer):
    """Reads one session; evaluation sets of the same kit hold expected calls and are not read."""

    name = "google_adk"
    title = "sessions of Google ADK, and lists of events"
    suffixes = (".json",)
    export = "`session.model_dump_json()`, or the dev UI's export of a session"
    carries = EVIDENCE - {COSTS}
    when_empty = "a session of Google ADK in which nothing ran: it has no events"
    example = (
        '{"id": "s", "app_name": "shop", "user_id": "u", "state": {}, "events": ['
        '{"author": "user", "content": {"role": "user", "parts": [{"text": "2 + 2?"}]}}, '
        '{"author": "shop", "content": {"role": "model", "parts": '
        '[{"function_call": {"id": "c", "name": "add", "args": {"a": 2}}}]}}, '
        '{"author": "shop", "content": {"role": "user", "parts": '
        '[{"function_response": {"id": "c", "name": "add", "response": {"result": 4}}}]}}, '
        '{"author": "shop", "content": {"role": "model", "parts": [{"text": "4"}]}}]}'
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        if isinstance(document, dict) and document.get("events") == [] and "state" in document:
            return _either(document, "app_name") is not None
        return any(is_event(event) for event in _events_of(document))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session = source.document if isinstance(source.document, dict) else {}
        builder = TraceBuilder(self.name)
        carries = read_events(builder, _events_of(source.document))
        if builder.is_empty:
            return
        builder.fields |= {
            "id": name_of(session.get("id")),
            "agent_name": name_of(_either(session, "app_name")),
            "framework": "google-adk",
        }
        yield builder.trace(carries, name=source.path.name.removesuffix(".json")), []


def _events_of(document: Any) -> list[Any]:
    """The events of a session, or of what a runner yielded: a list of them."""
    if isinstance(document, dict) and isinstance(document.get("events"), list):
        return list(document["events"])
    if isinstance(document, list) and all(
        isinstance(item, dict) and isinstance(item.get("author"), str) for item in document
    ):
        return document
    return []


def is_event(value: Any) -> bool:
    """Whether this is an event of ADK: something with an author and parts of content."""
    if not isinstance(value, dict) or not isinstance(value.get("author"), str):
        return False
    content = value.get("content")
    return isinstance(content, dict) and isinstance(content.get("parts"), list)


def read_events(builder: TraceBuilder, events: Iterable[Any]) -> frozenset[str]:
    """Read the events; the kinds of evidence that they can have."""
    counted = False
    for event in events:
        if not is_event(event) or event.get("partial") is True:
            builder.dropped("event without content")
            continue
        counted = _read_event(builder, event) or counted
    carries = GoogleAdkImporter.carries
    return carries if counted else carries - {LLM_CALLS, TOKENS}


def _read_event(builder: TraceBuilder, event: dict[str, Any]) -> bool:
    """Read one event; whether it has the usage of a model."""
    at = event.get("timestamp")
    author, parts = event["author"], [p for p in event["content"]["parts"] if isinstance(p, dict)]
    said = [part["text"] for part in parts if _is_said(part)]
    responses = [one for part in parts if (one := _either(part, "function_response"))]
    for response in responses:
        _result(builder, response, at)
    if author == "user" and not responses:
        builder.prompt("\n".join(said), at)
        return False
    calls = [one for part in parts if isinstance(one := _either(part, "function_call"), dict)]
    for part in parts:
        if part.get("thought") is True:
            builder.think(name_of(part.get("text")), at)
    usage = _either(event, "usage_metadata")
    if said or calls:
        model = name_of(_either(event, "model_version"))
        reply = builder.reply(
            "\n".join(said), model=model, at=at, agent=author, tokens=from_provider(usage, model)
        )
        reply.set(error=name_of(_either(event, "error_message")))
    for call in calls:
        builder.call(
            name_of(call.get("name")) or "",
            call.get("args"),
            key=name_of(call.get("id")),
            at=at,
            agent=author,
        )
    actions = event.get("actions")
    to = _either(actions, "transfer_to_agent") if isinstance(actions, dict) else None
    if isinstance(to, str) and to:
        builder.handoff(to, at)
    return isinstance(usage, dict)


def _result(builder: TraceBuilder, response: Any, at: Any) -> None:
    if not isinstance(response, dict):
        return
    key = name_of(response.get("id"))
    call = builder.find_call(key) if key else None
    call = call or builder.waiting_call(name_of(response.get("name")) or "")
    value = response.get("response")
    error = value.get("error") if isinstance(value, dict) else None
    builder.result(call, value, error=str(error) if error else None, at=at)


def _is_said(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and part.get("thought") is not True


_UNDERSCORE = re.compile(r"_([a-z])")  # function_call → functionCall


def _either(given: dict[str, Any], name: str) -> Any:
    """The value under the name in snake case or in camel case."""
    found = given.get(name)
    return given.get(_UNDERSCORE.sub(lambda m: m[1].upper(), name)) if found is None else found
