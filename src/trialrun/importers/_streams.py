"""Streamed responses of model APIs: the events of a stream, put together to response bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trialrun.errors import TraceError
from trialrun.importers._source import decode_json
from trialrun.importers._values import dicts_in, text_of

UNFINISHED = "unfinished"
"""Key of a body that was put together from a stream without an end."""

_DATA = b"data:"
_JSON = "partial_json"
_CONTINUED = ("text", "thinking", _JSON)


def event_in(line: bytes) -> dict[str, Any] | None:
    """The event of a line of a stream: `data: {…}` or `{…}`; None for any other line."""
    text = line.strip()
    text = text[len(_DATA) :].strip() if text.startswith(_DATA) else text
    if not text.startswith(b"{"):
        return None
    try:
        value = decode_json(text)
    except TraceError:
        return None
    return value if isinstance(value, dict) else None


def bodies(events: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The response bodies of a stream of any of the APIs; several may follow each other."""
    open_body: _Open | None = None
    for event in events:
        kind = _OPENERS.get(_kind(event))
        if kind is not None and (open_body is None or open_body.is_new(event)):
            if open_body is not None:
                yield open_body.body()
            open_body = kind(event)
        if open_body is not None:
            open_body.add(event)
            if open_body.is_done:
                yield open_body.body()
                open_body = None
    if open_body is not None:
        yield open_body.body()


def _kind(event: dict[str, Any]) -> str:
    if event.get("object") == "chat.completion.chunk":
        return "chunk"
    return str(event.get("type"))


class _Open:
    """A response that is being received."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.is_done = False

    def is_new(self, event: dict[str, Any]) -> bool:
        """Whether the event begins another response."""
        return True

    def add(self, event: dict[str, Any]) -> None:
        """Add an event."""

    def body(self) -> dict[str, Any]:
        """The response body, as it would have been without streaming."""
        return {}


class _Message(_Open):
    """Anthropic's Messages API: blocks by index; the later usage wins."""

    def __init__(self, event: dict[str, Any]) -> None:
        super().__init__(event)
        message = event.get("message")
        self.message: dict[str, Any] = dict(message) if isinstance(message, dict) else {}
        # A response that continues a call of the provider's own tool has blocks at its start.
        self.blocks = dict(enumerate(dicts_in(self.message.get("content"))))
        self.parts: dict[tuple[int, str], list[str]] = {}  # of texts, which deltas continue

    def add(self, event: dict[str, Any]) -> None:
        kind, index = event.get("type"), event.get("index")
        if kind == "message_delta":
            usage = event.get("usage")
            before = self.message.get("usage")
            if isinstance(usage, dict):
                known = {name: value for name, value in usage.items() if value is not None}
                self.message["usage"] = {**(before if isinstance(before, dict) else {}), **known}
            if isinstance(event.get("delta"), dict):
                self.message |= event["delta"]
        elif kind == "message_stop":
            self.is_done = True
        elif kind == "content_block_start" and type(index) is int:
            block = event.get("content_block")
            self.blocks[index] = dict(block) if isinstance(block, dict) else {}
            for name in _CONTINUED:
                self.parts.pop((index, name), None)
        elif kind == "content_block_delta" and type(index) is int:
            self._delta(index, event.get("delta"))

    def _delta(self, index: int, delta: Any) -> None:
        block = self.blocks.setdefault(index, {})
        for name in _CONTINUED:
            if isinstance(delta, dict) and isinstance(delta.get(name), str):
                before = block.get(name)
                start = [before] if isinstance(before, str) else []
                self.parts.setdefault((index, name), start).append(delta[name])

    def body(self) -> dict[str, Any]:
        for (index, name), parts in self.parts.items():
            text = "".join(parts)
            if name != _JSON:
                self.blocks[index][name] = text
            elif text:
                self.blocks[index]["input"] = _value(text)
        content = [block for _, block in sorted(self.blocks.items())]
        stopped = self.is_done or self.message.get("stop_reason") is not None
        ends = {} if stopped else {UNFINISHED: True}
        return {"role": "assistant", **self.message, "content": content, **ends}


class _Response(_Open):
    """OpenAI's Responses API: the last event has the whole response."""

    def __init__(self, event: dict[str, Any]) -> None:
        super().__init__(event)
        self.response: dict[str, Any] = {}
        self.items: list[dict[str, Any]] = []

    def is_new(self, event: dict[str, Any]) -> bool:
        return event.get("type") == "response.created"

    def add(self, event: dict[str, Any]) -> None:
        if isinstance(event.get("response"), dict):
            self.response = event["response"]
        if event.get("type") == "response.output_item.done" and isinstance(event.get("item"), dict):
            self.items.append(event["item"])
        self.is_done = event.get("type") in _ENDS

    def body(self) -> dict[str, Any]:
        ends = {} if self.is_done else {UNFINISHED: True}
        output = dicts_in(self.response.get("output")) or self.items
        return {**self.response, "output": output, **ends}


_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.done")


class _Chunks(_Open):
    """OpenAI's chat completions: deltas of the first choice; usage in the last chunk."""

    def __init__(self, event: dict[str, Any]) -> None:
        super().__init__(event)
        self.id = event.get("id")
        self.facts: dict[str, Any] = {}
        self.texts: dict[str, list[str]] = {}
        self.calls: dict[int, dict[str, list[str]]] = {}  # the parts of each field
        self.ended = False

    def is_new(self, event: dict[str, Any]) -> bool:
        return bool(event.get("id") != self.id)

    def add(self, event: dict[str, Any]) -> None:
        for name in ("id", "model", "created", "usage"):
            if event.get(name) is not None:
                self.facts[name] = event[name]
        for choice in dicts_in(event.get("choices")):
            if choice.get("index", 0) == 0:
                self.ended = self.ended or choice.get("finish_reason") is not None
                self._delta(choice.get("delta"))

    def _delta(self, delta: Any) -> None:
        if not isinstance(delta, dict):
            return
        for name in ("content", "refusal", "reasoning_content"):
            if delta.get(name):
                self.texts.setdefault(name, []).append(text_of(delta[name]))
        for part in dicts_in(delta.get("tool_calls")):
            call = self.calls.setdefault(self._index(part), {})
            if isinstance(part.get("id"), str) and part["id"]:
                call["id"] = [part["id"]]
            inner = part.get("function")
            for name in ("name", "arguments"):
                if isinstance(inner, dict) and isinstance(inner.get(name), str):
                    call.setdefault(name, []).append(inner[name])

    def _index(self, part: dict[str, Any]) -> int:
        """Which call a delta continues. Some servers send calls whole, without an index."""
        if type(part.get("index")) is int:
            return int(part["index"])
        return len(self.calls) if part.get("id") else max(self.calls, default=0)

    def body(self) -> dict[str, Any]:
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self.texts.items()}
        message["tool_calls"] = [
            {name: "".join(parts) for name, parts in call.items()}
            for _, call in sorted(self.calls.items())
        ]
        ends = {} if self.ended else {UNFINISHED: True}
        return {**self.facts, "choices": [{"message": {"role": "assistant", **message}}], **ends}


_OPENERS: dict[str, type[_Open]] = {
    "message_start": _Message,
    "response.created": _Response,
    "response.in_progress": _Response,
    "response.output_item.added": _Response,
    "response.completed": _Response,
    "chunk": _Chunks,
}


def _value(text: str) -> Any:
    try:
        return decode_json(text.encode())
    except TraceError:  # a stream that was cut off
        return text
