"""Bodies, streams and logs of model APIs in files: what the importers of the three APIs share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._messages import Conversation
from trialrun.importers._streams import UNFINISHED, bodies, event_in
from trialrun.importers._values import amount, dicts_in, moment, name_of
from trialrun.importers.base import NO_DOCUMENT, Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE, HANDOFFS, RETRIEVALS

_FIRST_LINES = 8  # among which is an event by which a stream is recognised

CARRIES = EVIDENCE - {HANDOFFS, RETRIEVALS}
"""What messages of model APIs can have."""


class WireImporter(Importer):
    """Reads documents, lines of documents and streams; subclasses say which are theirs."""

    suffixes = (".json", ".jsonl", ".ndjson", ".txt")
    carries = CARRIES

    def is_document(self, value: Any) -> bool:
        """Whether the value is a document of this API."""
        raise NotImplementedError

    def is_event(self, value: dict[str, Any]) -> bool:
        """Whether the value is an event of a stream of this API."""
        raise NotImplementedError

    def recognises(self, source: Source) -> bool:
        document = source.document
        if document is not NO_DOCUMENT and not self._is_one_event(source):
            separate = _are_separate(document)
            return all(map(self.is_document, document)) if separate else self.is_document(document)
        return self._is_stream(source) or (
            bool(source.objects) and all(map(self.is_document, source.objects))
        )

    def _is_stream(self, source: Source) -> bool:
        """Lines of JSON, or of server-sent events (`event: …`, `data: {…}`)."""
        for line in source.start[:65536].split(b"\n")[:_FIRST_LINES]:
            event = event_in(line)
            if event is not None and self.is_event(event):
                return True
            if (
                event is None
                and not line.startswith(b"{")
                and line.strip()
                and not line.startswith((b"event:", b"id:", b"retry:", b":"))
            ):
                return False
        return False

    def _is_one_event(self, source: Source) -> bool:
        return isinstance(source.document, dict) and self.is_event(source.document)

    def records(self, source: Source) -> Iterator[Record | Problem]:
        if source.document is not NO_DOCUMENT and not self._is_one_event(source):
            yield from self._document(source.document, source, None)
        elif self._is_stream(source):
            yield from self._stream(source)
        else:
            yield from self._lines(source)

    def _lines(self, source: Source) -> Iterator[Record | Problem]:
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            else:
                yield from self._document(item[1], source, item[0])

    def _stream(self, source: Source) -> Iterator[Record | Problem]:
        builder = TraceBuilder(self.name)
        conversation = Conversation(builder)
        problems: list[Problem] = []
        for body in bodies(_events(source, problems)):
            add_response(conversation, body)
        conversation.finish()
        yield from problems
        if builder.is_empty:
            yield Problem("the stream has no response in it", file=str(source))
        else:
            yield conversation.trace(self.carries), []

    def _document(self, value: Any, source: Source, line: int | None) -> Iterator[Record | Problem]:
        if _are_separate(value):
            for one in value:
                yield from self._document(one, source, line)
            return
        conversation = Conversation(TraceBuilder(self.name))
        if not self.is_document(value) or not add_document(conversation, value):
            what = "expected messages, or a request with its response"
            yield Problem(what, file=str(source), line=line)
        else:
            yield conversation.trace(self.carries), []


def _are_separate(value: Any) -> bool:
    """Whether the value is a list of conversations or logs, each with messages of its own."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(one, dict) and "role" not in one and _has_messages(one) for one in value)


def _has_messages(one: dict[str, Any]) -> bool:
    return log_of(one) is not None or isinstance(one.get("messages"), list)


def _events(source: Source, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    """The events of a stream; lines that cannot be read are added to the problems."""
    for number, line in source.lines():
        event = None if isinstance(line, Problem) else event_in(line)
        if event is not None:
            yield event
        elif isinstance(line, Problem):
            problems.append(line)
        elif line.removeprefix(b"data:").lstrip().startswith(b"{"):
            what = "an event that is not valid JSON"
            problems.append(Problem(what, file=str(source), line=number))


def add_document(conversation: Conversation, value: Any) -> bool:
    """Messages, a body, bodies one after the other, or a call log; False if nothing was read."""
    if isinstance(value, list):
        if value and all(is_body(item) for item in value):
            for body in value:
                add_response(conversation, body)
        else:
            conversation.add_all(value)
    elif isinstance(value, dict):
        _add_object(conversation, value)
    conversation.finish()
    return not conversation.builder.is_empty


def _add_object(conversation: Conversation, value: dict[str, Any]) -> None:
    log = log_of(value)
    if log is None:
        if is_body(value):
            add_response(conversation, value)
        else:
            conversation.add_all(messages_in(value) or [])
        return
    request, response = log
    # Earlier replies are other calls of the log: this file has the usage of one.
    if name_of(request.get("previous_response_id")) is not None:
        conversation.lose_history()
    conversation.in_history = True
    conversation.add_all(messages_in(request) or [])
    conversation.finish()
    conversation.in_history = False
    conversation.builder.say(None)
    add_response(conversation, response, **_measured(value))


def messages_in(value: dict[str, Any]) -> list[Any] | None:
    """The messages of a request, a state or a log."""
    for name in ("messages", "input"):
        found = value.get(name)
        if isinstance(found, list):
            return found
        if name == "input" and isinstance(found, str):
            return [{"role": "user", "content": found}]
    return None


def log_of(value: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The request and the response of one logged call, else None."""
    if not isinstance(value, dict):
        return None
    response = value.get("response")
    request = value.get("request", value)
    if isinstance(response, dict) and isinstance(response.get("body"), dict):
        response = response["body"]
    if isinstance(request, dict) and isinstance(request.get("body"), dict):
        request = request["body"]
    if not isinstance(request, dict) or not isinstance(response, dict):
        return None
    found = is_body(response) and messages_in(request) is not None
    return (request, response) if found else None


def is_body(value: Any) -> bool:
    """Whether the value is the body of a response of one of the three APIs."""
    return is_chat_body(value) or is_responses_body(value) or is_messages_body(value)


def is_chat_body(value: Any) -> bool:
    """A chat completion of OpenAI's API."""
    choices = dicts_in(value.get("choices")) if isinstance(value, dict) else []
    return bool(choices) and isinstance(choices[0].get("message"), dict)


def is_responses_body(value: Any) -> bool:
    """A response of OpenAI's Responses API."""
    if not isinstance(value, dict) or not isinstance(value.get("output"), list):
        return False
    return value.get("object") == "response"


def is_messages_body(value: Any) -> bool:
    """A message of Anthropic's API."""
    if not isinstance(value, dict) or not isinstance(value.get("content"), list):
        return False
    return value.get("type") == "message" and value.get("role") == "assistant"


def _measured(log: dict[str, Any]) -> dict[str, Any]:
    """Cost, time and duration in the log of a call, as LiteLLM writes them."""
    found: dict[str, Any] = {}
    cost = next((log[name] for name in ("cost", "response_cost") if amount(log.get(name))), None)
    if cost is not None:
        found["cost"] = cost
    seconds = amount(next((log[n] for n in ("latency_sec", "latency") if n in log), None))
    if seconds is not None:
        found["ms"] = seconds * 1000
    began = moment(log.get("start_time", log.get("startTime")))
    if began is None and (ended := moment(log.get("timestamp"))) is not None:
        began = moment(ended.timestamp() - (seconds or 0))
    if began is not None:
        found["at"] = began
    return found


def add_response(conversation: Conversation, body: dict[str, Any], **more: Any) -> bool:
    """A response body; one that failed, or a stream without an end, leaves no answer."""
    done = conversation.response(body, **more)
    status = body.get("status")
    facts = conversation.builder.facts
    facts.pop("unfinished", None)  # of an earlier response, after which the run went on
    if UNFINISHED in body:
        conversation.builder.cut_off("the stream has no end")
    elif status in ("failed", "cancelled", "in_progress", "queued"):
        conversation.builder.cut_off(f"the response is {status}")
    return done
