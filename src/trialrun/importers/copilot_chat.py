"""Read chat sessions of GitHub Copilot in VS Code: one JSON object, or a journal of changes to it.

Calls have a name and no arguments; how often the model was called is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._values import as_dict, dicts_in, name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import ANSWER, TIMINGS, TOOL_CALLS
from trialrun.model.trace import StepStatus

_WHOLE, _SET, _APPEND = 0, 1, 2  # the kinds of lines in a journal


class CopilotChatImporter(Importer):
    """Reads one chat session."""

    name = "copilot_chat"
    title = "chat sessions of GitHub Copilot in VS Code"
    suffixes = (".json", ".jsonl")
    export = "`…/workspaceStorage/…/chatSessions/SESSION.json`, or *Chat: Export Chat…* in VS Code"
    carries = frozenset({ANSWER, TOOL_CALLS, TIMINGS})
    one_run_a_file = True
    when_empty = "a chat session of Copilot without a request"
    example = (
        '{"version": 3, "responderUsername": "GitHub Copilot", "sessionId": "s", "requests": ['
        '{"requestId": "r", "timestamp": 1767323045000, "message": {"text": "2 + 2?"}, '
        '"modelId": "copilot/m", "response": [{"value": "I add. "}, {"kind": '
        '"toolInvocationSerialized", "toolId": "add", "toolCallId": "c", "isComplete": true}, '
        '{"value": "It is "}, {"value": "4"}]}]}'
    )

    def recognises(self, source: Source) -> bool:
        first = source.objects[0] if source.objects else {}
        whole = first.get("v") if first.get("kind") == _WHOLE else source.document
        return (
            isinstance(whole, dict)
            and isinstance(whole.get("requests"), list)
            and ("responderUsername" in whole or "inputState" in whole)
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session: Any = source.document if "requests" in source.keys else {}
        if not session:
            for item in source.values():
                if isinstance(item, Problem):
                    yield item
                else:
                    session = _changed(session, as_dict(item[1]))
        builder = TraceBuilder(self.name)
        builder.fields["framework"] = "copilot-chat"
        builder.fields["id"] = name_of(session.get("sessionId"))
        builder.fields["name"] = name_of(session.get("customTitle"))
        for request in dicts_in(session.get("requests")):
            _request(builder, request)
        if not builder.is_empty:
            yield builder.trace(self.carries), []


def _changed(session: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """The session after one line of the journal."""
    kind, path, value = line.get("kind"), line.get("k"), line.get("v")
    if kind == _WHOLE:
        return as_dict(value)
    if not isinstance(path, list) or not path:
        return session
    place: Any = session
    try:
        for key in path[:-1]:
            place = place[key]
        if kind == _SET:
            place[path[-1]] = value
        elif kind == _APPEND and isinstance(value, list):
            place.setdefault(path[-1], []).extend(value)
    except (LookupError, TypeError, AttributeError):
        pass  # a change of something that the journal does not have
    return session


def _request(builder: TraceBuilder, request: dict[str, Any]) -> None:
    at = request.get("timestamp")
    builder.prompt(name_of(as_dict(request.get("message")).get("text")) or "", at)
    key = name_of(request.get("requestId"))
    pieces: list[str] = []
    model = name_of(request.get("modelId"))
    builder.reply(key=key, model=model.rpartition("/")[2] if model else None, at=at)
    for part in dicts_in(request.get("response")):
        if part.get("kind") == "toolInvocationSerialized":
            _say(builder, key, pieces)
            draft = builder.call(
                name_of(part.get("toolId")) or "", key=name_of(part.get("toolCallId")), at=at
            )
            if part.get("isComplete") is True:
                draft.set(status=StepStatus.SUCCESS)
        elif part.get("kind") == "inlineReference":
            file = name_of(as_dict(part.get("inlineReference")).get("path"))
            pieces.append(file.rpartition("/")[2] if file else "")
        elif "kind" not in part and isinstance(part.get("value"), str):
            # Fences without content surround edits.
            pieces.append("" if not part["value"].strip("`\n ") else part["value"])
    _say(builder, key, pieces)
    if request.get("isCanceled") is True:
        builder.interrupted("the user cancelled the request")


def _say(builder: TraceBuilder, key: str | None, pieces: list[str]) -> None:
    """The text up to a call, or to the end: the last one is the answer."""
    text = "".join(pieces)
    pieces.clear()
    if text.strip():
        builder.reply(text, key=key)
        builder.say(text)
