"""Read sessions of Continue: one JSON object with a history, and one sum of tokens and costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._usage import counted
from trialrun.importers._values import amount, as_dict, dicts_in, name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE, HANDOFFS, REASONING, RETRIEVALS, TIMINGS


class ContinueCliImporter(Importer):
    """Reads one session."""

    name = "continue_cli"
    title = "sessions of Continue (`cn`)"
    suffixes = (".json",)
    export = "`~/.continue/sessions/SESSION.json`, as Continue writes it"
    carries = EVIDENCE - {TIMINGS, REASONING, HANDOFFS, RETRIEVALS}
    example = (
        '{"sessionId": "s", "title": "t", "workspaceDirectory": "/app", "history": ['
        '{"message": {"role": "user", "content": "2 + 2?"}}, '
        '{"message": {"role": "assistant", "content": "", "toolCalls": [{"id": "c", "function": '
        '{"name": "add", "arguments": "{\\"a\\": 2, \\"b\\": 2}"}}]}, "toolCallStates": '
        '[{"toolCallId": "c", "status": "done", "output": [{"content": "4"}]}]}, '
        '{"message": {"role": "assistant", "content": "4"}}], '
        '"usage": {"totalCost": 0.01, "promptTokens": 9, "completionTokens": 2}}'
    )

    def recognises(self, source: Source) -> bool:
        wanted = {"sessionId", "history", "workspaceDirectory"}
        return source.keys >= wanted and isinstance(source.document["history"], list)

    def records(self, source: Source) -> Iterator[Record | Problem]:
        document = source.document
        builder = TraceBuilder(self.name)
        builder.fields["framework"] = "continue"
        builder.fields["id"] = name_of(document.get("sessionId"))
        builder.fields["name"] = name_of(document.get("title"))
        if name_of(document.get("workspaceDirectory")):
            builder.facts["cwd"] = document["workspaceDirectory"]
        replies = [
            reply
            for item in dicts_in(document["history"])
            if (reply := _item(builder, item)) is not None
        ]
        _add_usage(builder, replies, as_dict(document.get("usage")))
        if not builder.is_empty:
            yield builder.trace(self.carries), []


def _item(builder: TraceBuilder, item: dict[str, Any]) -> Draft | None:
    """Read an item of the history; a reply is returned."""
    message = as_dict(item.get("message"))
    text = text_of(message.get("content"))
    if message.get("role") == "user":
        builder.prompt(text)
    if message.get("role") != "assistant":
        return None
    reply = builder.reply(text)
    for call in dicts_in(message.get("toolCalls")):
        function = as_dict(call.get("function"))
        name, key = name_of(function.get("name")), name_of(call.get("id"))
        builder.call(name or "", function.get("arguments"), key=key)
    for state in dicts_in(item.get("toolCallStates")):
        if state.get("status") in ("done", "errored", "canceled"):
            output = [name_of(one.get("content")) or "" for one in dicts_in(state.get("output"))]
            failed = state.get("status") != "done"
            builder.result(name_of(state.get("toolCallId")), "\n".join(output), failed=failed)
    return reply


def _add_usage(builder: TraceBuilder, replies: list[Draft], usage: dict[str, Any]) -> None:
    """The sums of the session, on its last reply: the format has no others."""
    details = as_dict(usage.get("promptTokensDetails"))
    tokens = counted(
        None,
        input=usage.get("promptTokens"),
        output=usage.get("completionTokens"),
        cached=details.get("cachedTokens"),
        written=details.get("cacheWriteTokens"),
        cache_inside=False,
    )
    if not replies or tokens is None or not tokens.total_tokens:
        return
    for reply in replies[:-1]:
        reply.set(tokens=counted(None, input=0, output=0))
    replies[-1].set(tokens=tokens, cost_usd=amount(usage.get("totalCost")) or None)
    builder.facts["usage"] = "a sum for the session, on its last reply"
