"""Read hook telemetry of OpenClaw: one event per line, one trace for each session key.

Calls have no ids and no results: a start and an end are joined by their order. The start of an
agent is written twice for a prompt, the second time with the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._values import name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import ANSWER, HANDOFFS, TIMINGS, TOOL_ARGS, TOOL_CALLS

_KINDS = frozenset(
    {"message.in", "message.out", "message.sending", "agent.start", "agent.end"}
    | {"tool.start", "tool.end"}
)


class OpenclawImporter(Importer):
    """Reads the sessions of a telemetry file; subagents are sessions of their own."""

    name = "openclaw"
    title = "hook telemetry of OpenClaw"
    suffixes = (".jsonl",)
    export = "the telemetry plug-in of OpenClaw"
    carries = frozenset({ANSWER, TOOL_CALLS, TOOL_ARGS, TIMINGS, HANDOFFS})
    example = (
        '{"type": "message.in", "channel": "chat", "content": "Who am I?"}\n'
        '{"type": "tool.start", "toolName": "exec", "params": {"command": "whoami"}, '
        '"sessionKey": "agent:main:chat:1"}\n'
        '{"type": "tool.end", "toolName": "exec", "durationMs": 37, "success": true, '
        '"sessionKey": "agent:main:chat:1"}\n'
        '{"type": "message.out", "channel": "chat", "content": "root"}\n'
    )

    def recognises(self, source: Source) -> bool:
        kinds = [one.get("type") for one in source.objects[:5]]
        return bool(kinds) and all(isinstance(kind, str) and kind in _KINDS for kind in kinds)

    def records(self, source: Source) -> Iterator[Record | Problem]:
        reader = _Reader()
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif isinstance(item[1], dict):
                reader.event(item[1])
        for key, builder in reader.sessions.items():
            builder.fields |= {"id": key, "framework": "openclaw"}
            yield builder.trace(self.carries, name=key), []


class _Reader:
    def __init__(self) -> None:
        self.sessions: dict[str, TraceBuilder] = {}
        self.early: list[dict[str, Any]] = []  # messages before the session of their channel

    def event(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind in ("message.in", "message.out"):
            if not self._message(event):
                self.early.append(event)
            return
        key = name_of(event.get("sessionKey"))
        if key is None or kind not in _KINDS:
            return
        if key not in self.sessions:
            self.sessions[key] = TraceBuilder("openclaw")
            self.early = [one for one in self.early if not self._message(one)]
        self._step(self.sessions[key], event)

    def _message(self, event: dict[str, Any]) -> bool:
        """Give a message to the session of its channel, whose key names it."""
        channel = name_of(event.get("channel"))
        for key, builder in self.sessions.items():
            if channel and f":{channel}:" in f"{key}:":
                text = text_of(event.get("content"))
                if event["type"] == "message.in":
                    builder.prompt(text, event.get("timestamp"))
                else:
                    builder.say(text)
                return True
        return False

    def _step(self, builder: TraceBuilder, event: dict[str, Any]) -> None:
        kind, name = event["type"], name_of(event.get("toolName")) or ""
        if kind == "agent.start":
            if "messages" in event:
                builder.repeated("start of an agent")
            else:
                builder.prompt(text_of(event.get("prompt")), event.get("timestamp"))
        elif kind == "tool.start":
            builder.call(name, event.get("params"), at=event.get("timestamp"))
        elif kind == "tool.end":
            call = builder.waiting_call(name)
            failed = event.get("success") is False
            if builder.result(call, None, failed=failed, ms=event.get("durationMs")) and call:
                call.fields["tool_result"] = None  # what it returned is not recorded
