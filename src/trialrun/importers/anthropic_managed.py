"""Logs of the client of Anthropic's managed agents: one call a line, `[method, payload]`.

What the user sends is in the log twice: as it was sent, and echoed in the stream of events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem, TraceError
from trialrun.importers._api_usage import api_usage
from trialrun.importers._blocks import plain_result, prompt_text
from trialrun.importers._builder import Draft
from trialrun.importers._source import decode_json
from trialrun.importers._values import dicts_in, moment, name_of
from trialrun.importers._wire import CARRIES
from trialrun.importers.base import Importer, Record, Source, TraceBuilder

_METHOD = "beta.sessions."
_CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
_RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}


class AnthropicManagedImporter(Importer):
    """Reads the log of one session."""

    name = "anthropic_managed"
    title = "Anthropic managed agents: the log of a client"
    suffixes = (".jsonl", ".ndjson")
    export = "write `[method, payload]` for each call of `client.beta.sessions`, one JSON a line"
    carries = CARRIES
    one_run_a_file = True
    example = (
        '["client.beta.sessions.create", {"id": "s", "agent": {"name": "a", "model": '
        '{"id": "claude-sonnet-5"}}}]\n'
        '["client.beta.sessions.events.send", ["s", {"events": [{"type": "user.message", '
        '"content": [{"type": "text", "text": "2 + 2?"}]}]}]]\n'
        '["client.beta.sessions.events.stream", {"id": "e1", "type": "span.model_request_start", '
        '"processed_at": "2026-07-06T14:16:30Z"}]\n'
        '["client.beta.sessions.events.stream", {"id": "e2", "type": "agent.message", '
        '"content": [{"type": "text", "text": "4"}], "processed_at": "2026-07-06T14:16:31Z"}]\n'
        '["client.beta.sessions.events.stream", {"id": "e3", "type": "span.model_request_end", '
        '"model_request_start_id": "e1", "processed_at": "2026-07-06T14:16:31Z", '
        '"model_usage": {"input_tokens": 2, "output_tokens": 5, "cache_read_input_tokens": 7, '
        '"cache_creation_input_tokens": 0}}]\n'
    )

    def recognises(self, source: Source) -> bool:
        line = source.first_line.strip()
        if not line.startswith(b"[") or _METHOD.encode() not in line:
            return False
        try:
            return _call_in(decode_json(line)) is not None
        except TraceError:
            return False

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session = _Session(TraceBuilder(self.name))
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif (call := _call_in(item[1])) is not None:
                session.add(*call)
            else:
                yield Problem("expected `[method, payload]`", file=str(source), line=item[0])
        if not session.builder.is_empty:
            yield session.builder.trace(self.carries), []


def _call_in(value: Any) -> tuple[str, Any] | None:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return None
    return (value[0], value[1]) if _METHOD in value[0] else None


class _Session:
    def __init__(self, builder: TraceBuilder) -> None:
        self.builder = builder
        self.model: str | None = None
        self.reply: Draft | None = None  # of the model request that is open
        self.sent: list[str] = []  # the kinds of events that the stream has not echoed yet
        self.seen: set[str] = set()

    def add(self, method: str, payload: Any) -> None:
        """Add one call of the client."""
        if method.endswith("events.send"):
            parts = payload if isinstance(payload, list) else [payload]
            bodies = [part for part in parts if isinstance(part, dict)]
            for event in (event for body in bodies for event in dicts_in(body.get("events"))):
                self.sent.append(str(event.get("type")))
                self._from_outside(self.sent[-1], event, None)
        elif isinstance(payload, dict) and "events." in method:
            self._event(payload)
        elif isinstance(payload, dict):
            self._opened(payload)

    def _opened(self, session: dict[str, Any]) -> None:
        agent = session.get("agent")
        agent = agent if isinstance(agent, dict) else {}
        model = agent.get("model")
        self.model = name_of(model.get("id") if isinstance(model, dict) else model)
        fields = self.builder.fields
        fields.setdefault("agent_name", name_of(agent.get("name")))
        fields.setdefault("id", name_of(session.get("id")))

    def _event(self, event: dict[str, Any]) -> None:
        key = name_of(event.get("id"))
        if key in self.seen:
            self.builder.repeated("event")
            return
        if key is not None:
            self.seen.add(key)
        kind, at = str(event.get("type")), event.get("processed_at")
        if kind in self.sent:
            self._echoed(kind, event, at)
        elif kind == "span.model_request_start":
            self.reply = self.builder.reply(model=self.model, key=key, at=at)
        elif kind == "span.model_request_end":
            self._ended(event, at)
        elif kind == "agent.message":
            self._message(event, at)
        elif kind == "agent.thinking":
            self.builder.think(prompt_text(event.get("content")), at)
        elif kind in _CALLS:
            name = name_of(event.get("name")) or "unnamed"
            self.builder.call(name, event.get("input"), key=key, at=at)
        elif kind == "session.error":
            self.builder.facts["error"] = event.get("error")
        else:
            self._from_outside(kind, event, at)

    def _echoed(self, kind: str, event: dict[str, Any], at: Any) -> None:
        """The stream repeats what was sent, with its time."""
        self.sent.remove(kind)
        self.builder.repeated("event that was sent")
        if kind in _RESULTS:
            self._from_outside(kind, event, at)
        elif kind == "user.message" and self.builder.fields.get("started_at") is None:
            self.builder.fields["started_at"] = moment(at)

    def _from_outside(self, kind: str, event: dict[str, Any], at: Any) -> None:
        if kind == "user.message":
            self.builder.prompt(prompt_text(event.get("content")), at)
        elif kind == "user.interrupt":
            self.builder.cut_off("the user interrupted it")
        elif kind in _RESULTS:
            value = plain_result(event.get("content"))
            failed = event.get("is_error") is True
            self.builder.result(name_of(event.get(_RESULTS[kind])), value, failed=failed, at=at)

    def _message(self, event: dict[str, Any], at: Any) -> None:
        self.builder.facts.pop("unfinished", None)  # it went on after an interruption
        open_key = self.reply.key if self.reply is not None else None
        self.builder.reply(prompt_text(event.get("content")), model=self.model, key=open_key, at=at)

    def _ended(self, event: dict[str, Any], at: Any) -> None:
        start = name_of(event.get("model_request_start_id"))
        draft = self.reply if self.reply is not None and self.reply.key == start else None
        self.reply = None
        tokens = api_usage(event.get("model_usage"), self.model)
        if draft is None:
            draft = self.builder.reply(model=self.model, key=start, at=at)
        began, ended = draft.fields.get("timestamp"), moment(at)
        if began is not None and ended is not None and ended >= began:
            draft.set(duration_ms=(ended - began).total_seconds() * 1000)
        draft.set(tokens=tokens)
        if event.get("is_error") is True:
            draft.note(failed=True)
