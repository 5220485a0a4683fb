"""Read sessions of pi and of agents that are built on it: one JSON object a line.

Since version 3 the entries are a tree: where the user went back, the branch that ends the file is
the session, and entries of other branches are left out. Each reply has its usage and cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from trialrun.errors import Problem
from trialrun.importers._shell_text import pi_exit_code
from trialrun.importers._usage import count, counted
from trialrun.importers._values import as_dict, dicts_in, moment, name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE, HANDOFFS, RETRIEVALS
from trialrun.model.trace import TokenUsage

_YIELD = "yield"  # the tool by which an agent hands in its result


class PiImporter(Importer):
    """Reads one session."""

    name = "pi"
    title = "sessions of pi and of agents that are built on it, versions 1 to 3"
    suffixes = (".jsonl",)
    export = "`~/.pi/agent/sessions/…/SESSION.jsonl`, as pi writes it"
    carries = EVIDENCE - {HANDOFFS, RETRIEVALS}
    one_run_a_file = True
    when_empty = "a session of pi without a message"
    example = (
        '{"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-02T03:04:05Z", '
        '"cwd": "/app"}\n'
        '{"type": "message", "id": "1", "parentId": null, "timestamp": "2026-01-02T03:04:05Z", '
        '"message": {"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]}}\n'
        '{"type": "message", "id": "2", "parentId": "1", "timestamp": "2026-01-02T03:04:06Z", '
        '"message": {"role": "assistant", "model": "m", "stopReason": "toolUse", "content": '
        '[{"type": "toolCall", "id": "c", "name": "add", "arguments": {"a": 2, "b": 2}}], '
        '"usage": {"input": 9, "output": 2, "cacheRead": 4, "cacheWrite": 0, '
        '"cost": {"total": 0.01}}}}\n'
        '{"type": "message", "id": "3", "parentId": "2", "timestamp": "2026-01-02T03:04:07Z", '
        '"message": {"role": "toolResult", "toolCallId": "c", "isError": false, '
        '"content": [{"type": "text", "text": "4"}]}}\n'
        '{"type": "message", "id": "4", "parentId": "3", "timestamp": "2026-01-02T03:04:08Z", '
        '"message": {"role": "assistant", "model": "m", "stopReason": "stop", "content": '
        '[{"type": "text", "text": "4"}], "usage": {"input": 9, "output": 1}}}\n'
    )

    def recognises(self, source: Source) -> bool:
        return any(
            value.get("type") == "session" and "id" in value and "cwd" in value
            for value in source.objects[:2]
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session = _Session(_abandoned(source))
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif isinstance(item[1], dict):
                session.line(item[1])
        session.end()
        if not session.builder.is_empty:
            yield session.builder.trace(self.carries), []


class _Link(msgspec.Struct):
    """The place of an entry in the tree."""

    id: str | None = None
    parentId: str | None = None


def _abandoned(source: Source) -> set[str]:
    """The ids of entries that are not on the branch that ends the file."""
    decoder = msgspec.json.Decoder(_Link)
    parents: dict[str, str | None] = {}
    leaf: str | None = None
    for number, line in source.lines():
        if isinstance(line, Problem):
            continue
        try:
            link = decoder.decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
        if link.id is not None and number > 1 and b'"parentId"' in line:
            parents[link.id] = link.parentId
            leaf = link.id
    lost = set(parents)
    while leaf in lost:  # an entry that is its own ancestor is met only once
        lost.discard(leaf)
        leaf = parents[leaf]
    return lost


class _Session:
    def __init__(self, abandoned: set[str]) -> None:
        self.builder = TraceBuilder("pi")
        self.builder.fields["framework"] = "pi"
        self.abandoned = abandoned
        self.cwd: str | None = None
        self.handed_in: Any = None  # what the tool `yield` was given
        self.last: Any = None

    def line(self, line: dict[str, Any]) -> None:
        """Read one entry."""
        kind, at, message = line.get("type"), line.get("timestamp"), line.get("message")
        if isinstance(line.get("id"), str) and line["id"] in self.abandoned:
            self.builder.dropped("entry of a branch that was left")
        elif kind == "session":
            self.cwd = name_of(line.get("cwd"))
            self.builder.fields["id"] = name_of(line.get("id"))
            self.builder.facts["cwd"] = self.cwd or ""
        elif kind == "title":
            self.builder.fields["name"] = name_of(line.get("title"))
        elif kind == "message" and isinstance(message, dict):
            self.last = at
            self._message(message, at)

    def _message(self, message: dict[str, Any], at: Any) -> None:
        role = message.get("role")
        if role == "user":
            self.handed_in = None
            self.builder.prompt(text_of(message.get("content")), at)
        elif role == "assistant":
            self._assistant(message, at)
        elif role == "toolResult":
            self._result(message, at)
        elif role == "bashExecution":
            self.builder.dropped("command that the user ran")

    def _assistant(self, message: dict[str, Any], at: Any) -> None:
        parts = dicts_in(message.get("content"))
        texts = [
            one["text"] for one in parts if one.get("type") == "text" and name_of(one.get("text"))
        ]
        model, usage = name_of(message.get("model")), as_dict(message.get("usage"))
        cost = usage.get("cost")
        total = cost.get("total") if isinstance(cost, dict) else cost
        self.builder.facts.pop("unfinished", None)
        self.builder.reply(
            "\n".join(texts),
            model=model,
            at=at,
            tokens=_tokens(usage, model, said=bool(parts)),
            cost=total if total != 0 else None,  # 0 is a subscription
            ms=message.get("duration"),
        )
        for part in parts:
            if part.get("type") == "thinking":
                self.builder.think(name_of(part.get("thinking")), at)
            elif part.get("type") == "toolCall":
                self._call(part, at)
        if message.get("stopReason") == "aborted":
            self.builder.interrupted("the user aborted the reply")
        elif message.get("stopReason") == "error":
            self.builder.cut_off(f"error: {name_of(message.get('errorMessage')) or 'not named'}")

    def _call(self, part: dict[str, Any], at: Any) -> None:
        name, arguments = name_of(part.get("name")) or "", part.get("arguments")
        draft = self.builder.call(name, arguments, key=name_of(part.get("id")), at=at)
        draft.note(cwd=self.cwd)
        if name == _YIELD and isinstance(arguments, dict):
            result = arguments.get("result")
            self.handed_in = result.get("data", result) if isinstance(result, dict) else result

    def _result(self, message: dict[str, Any], at: Any) -> None:
        text = text_of(message.get("content"))
        failed = message.get("isError") is True
        code = pi_exit_code(text) if failed and message.get("toolName") == "bash" else None
        key = name_of(message.get("toolCallId"))
        self.builder.result(key, text, failed=failed, exit_code=code, at=at)

    def end(self) -> None:
        """The file ends here. What was handed in is the answer where there is no text."""
        if self.builder.answer is None and self.handed_in is not None:
            self.builder.say(self.handed_in)
        self.builder.fields["completed_at"] = moment(self.last)


def _tokens(usage: dict[str, Any], model: str | None, said: bool) -> TokenUsage | None:
    """The usage; 0 tokens beside content mean that they were not counted."""
    names = ("input", "output", "cacheRead", "cacheWrite")
    if said and not any(count(usage.get(name)) for name in names):
        return None
    return counted(
        model,
        input=usage.get("input"),
        output=usage.get("output"),
        cached=usage.get("cacheRead"),
        written=usage.get("cacheWrite"),
        cache_inside=False,
    )
