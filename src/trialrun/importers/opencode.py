"""Read sessions that `opencode export` writes: one JSON object with messages and their parts.

Tokens and cost are on the message and again on its `step-finish` part; the message is read.
Cached and reasoning tokens are counted beside input and output. A subagent's session is another
file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._usage import count, counted
from trialrun.importers._values import as_arguments, as_dict, dicts_in, name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE, HANDOFFS, RETRIEVALS
from trialrun.model.trace import TokenUsage


class OpencodeImporter(Importer):
    """Reads one exported session."""

    name = "opencode"
    title = "sessions of OpenCode"
    suffixes = (".json", ".jsonl")
    export = "`opencode export SESSION > session.json`"
    carries = EVIDENCE - {HANDOFFS, RETRIEVALS}
    when_empty = "a session of OpenCode without a message"
    example = (
        '{"info": {"id": "ses_1", "directory": "/app", "version": "1.18.4"}, "messages": ['
        '{"info": {"role": "user", "time": {"created": 1767323045000}}, '
        '"parts": [{"type": "text", "text": "2 + 2?"}]}, '
        '{"info": {"role": "assistant", "modelID": "m", "finish": "stop", "cost": 0.01, '
        '"tokens": {"input": 9, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 0}}, '
        '"time": {"created": 1767323046000, "completed": 1767323047000}}, "parts": ['
        '{"type": "tool", "tool": "add", "callID": "c", "state": {"status": "completed", '
        '"input": {"a": 2, "b": 2}, "output": "4"}}, {"type": "text", "text": "4"}]}]}'
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        if not isinstance(document, dict) or not isinstance(document.get("info"), dict):
            return False
        messages = document.get("messages")
        return (
            "id" in document["info"]
            and isinstance(messages, list)
            and (
                all(isinstance(one, dict) and "info" in one and "parts" in one for one in messages)
            )
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session = _Session(source.document["info"])
        for message in source.document["messages"]:
            info, parts = as_dict(message["info"]), dicts_in(message["parts"])
            if info.get("role") == "user":
                session.user(info, parts)
            elif info.get("role") == "assistant":
                session.assistant(info, parts)
        if not session.builder.is_empty:
            yield session.builder.trace(self.carries), []


class _Session:
    def __init__(self, info: dict[str, Any]) -> None:
        self.builder = TraceBuilder("opencode")
        fields = self.builder.fields
        fields["framework"] = "opencode"
        fields["id"], fields["agent_name"] = name_of(info.get("id")), name_of(info.get("agent"))
        names = {"directory": "cwd", "version": "opencode", "parentID": "parent_session"}
        for key, name in names.items():
            if name_of(info.get(key)):
                self.builder.facts[name] = info[key]

    def user(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """A prompt; its `synthetic` parts are added by OpenCode, `ignored` ones shown only."""
        texts = [
            part["text"]
            for part in parts
            if part.get("type") == "text"
            and isinstance(part.get("text"), str)
            and not (part.get("synthetic") or part.get("ignored"))
        ]
        self.builder.prompt("\n".join(texts), as_dict(info.get("time")).get("created"))

    def assistant(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """One model call, with the calls of tools that it asked for."""
        at = as_dict(info.get("time")).get("created")
        model, cost = name_of(info.get("modelID")), info.get("cost")
        texts = [
            one["text"] for one in parts if one.get("type") == "text" and name_of(one.get("text"))
        ]
        self.builder.reply(
            "\n".join(texts),
            model=model,
            at=at,
            tokens=_tokens(info, model),
            cost=cost if cost != 0 else None,  # 0 is a subscription
        )
        for part in parts:
            if part.get("type") == "reasoning":
                self.builder.think(name_of(part.get("text")), at)
            elif part.get("type") == "tool":
                self._call(part, as_dict(part.get("state")), info, at)
        self._end(info, parts)

    def _end(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """A message that has neither an end nor a `step-finish` was cut off."""
        self.builder.facts.pop("unfinished", None)
        error = as_dict(info.get("error"))
        if error:
            message = as_dict(error.get("data")).get("message")
            self.builder.cut_off(f"error: {message or error.get('name')}")
        elif "finish" not in info and not any(one.get("type") == "step-finish" for one in parts):
            self.builder.cut_off("the last message has no end")

    def _call(
        self, part: dict[str, Any], state: dict[str, Any], info: dict[str, Any], at: Any
    ) -> None:
        times, details = as_dict(state.get("time")), as_dict(state.get("metadata"))
        arguments = as_arguments(state.get("input"))
        draft = self.builder.call(
            name_of(part.get("tool")) or "",
            arguments,
            key=name_of(part.get("callID")),
            at=times.get("start", at),
        )
        draft.note(
            cwd=name_of((arguments or {}).get("workdir"))
            or name_of(as_dict(info.get("path")).get("cwd")),
            session=name_of(details.get("sessionId")),
        )
        if state.get("status") == "completed":
            code, value = details.get("exit"), state.get("output")
            self.builder.result(draft, value, exit_code=code, at=times.get("end"))
        elif state.get("status") == "error":
            error = name_of(state.get("error")) or "failed"
            self.builder.result(draft, error, failed=True, at=times.get("end"))


def _tokens(info: dict[str, Any], model: str | None) -> TokenUsage | None:
    """The usage; a message that was cut off has 0 tokens, which means nothing."""
    tokens = as_dict(info.get("tokens"))
    cache = as_dict(tokens.get("cache"))
    given = [*(tokens.get(key) for key in ("input", "output", "reasoning")), *cache.values()]
    if not any(count(one) for one in given):
        return None
    return counted(
        model,
        input=tokens.get("input"),
        output=tokens.get("output"),
        cached=cache.get("read"),
        written=cache.get("write"),
        reasoning=tokens.get("reasoning"),
        cache_inside=False,
        reasoning_inside=False,
    )
