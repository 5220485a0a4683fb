"""Histories of AutoGen and AG2: who said what in a team of agents.

Old histories (`history`, `chat_history`) have only texts with their speakers: neither model calls
nor tool calls are recorded. Results of AutoGen's AgentChat have calls, results and tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._api_usage import api_usage
from trialrun.importers._blocks import message_parts
from trialrun.importers._messages import Conversation
from trialrun.importers._values import dicts_in, name_of, text_of
from trialrun.importers._wire import CARRIES
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import ANSWER, HANDOFFS, RETRIEVALS

_TYPES = re.compile(r"[A-Z]\w*(Message|Event)$")  # TextMessage, ToolCallRequestEvent
# The executor of code says `exitcode: 1 (execution failed)`, then the output.
_EXECUTED = re.compile(r"exitcode: (-?\d+) \(execution \w+\)\s*(?:Code output:)?\s*(.*)", re.DOTALL)
_FENCED = re.compile(r"^```[\w+-]*\n(.*?)^```", re.DOTALL | re.MULTILINE)  # ```python … ```
_ROLE = re.compile(r"(.+?) \((->)?\s*(.+)\)$")  # `Orchestrator (-> WebSurfer)`, `… (thought)`
_OF_THE_USER = frozenset({"human", "user_proxy", "user", "userproxy"})


class AutogenImporter(Importer):
    """Reads one history."""

    name = "autogen"
    title = "AutoGen and AG2 histories"
    suffixes = (".json",)
    export = "`result.model_dump_json()` of a `TaskResult`; `chat_result.chat_history` of AG2"
    carries = CARRIES | {HANDOFFS, RETRIEVALS}
    example = (
        '{"messages": [{"source": "user", "models_usage": null, "content": "2 + 2?", '
        '"type": "TextMessage"}, {"source": "a", "models_usage": {"prompt_tokens": 9, '
        '"completion_tokens": 1}, "content": "4", "type": "TextMessage"}], "stop_reason": null}'
    )

    def recognises(self, source: Source) -> bool:
        return _events_of(source.document) is not None or _is_history(source.document)

    def records(self, source: Source) -> Iterator[Record | Problem]:
        builder = TraceBuilder(self.name)
        events = _events_of(source.document)
        carries = self.carries
        if events is not None:
            for event in events:
                _add_event(builder, event)
        elif isinstance(source.document, dict):
            has_calls = _add_history(builder, source.document)
            carries = carries if has_calls else frozenset({ANSWER})
        if builder.is_empty:
            yield Problem("the history is empty", file=str(source))
        else:
            yield builder.trace(carries), []


def _events_of(value: Any) -> list[dict[str, Any]] | None:
    """The messages of a result of AgentChat."""
    if isinstance(value, dict):
        value = value.get("messages")
    if not isinstance(value, list) or not value:
        return None
    for one in value:
        if not isinstance(one, dict) or not isinstance(one.get("source"), str):
            return None
        if not isinstance(one.get("type"), str) or not _TYPES.match(one["type"]):
            return None
    return value


def _is_history(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    history = _history_of(value)
    if not history or not all(isinstance(one.get("role"), str) for one in history):
        return False
    if "chat_history" in value:
        return "summary" in value or "cost" in value
    return "trajectory" not in value and ("question" in value or "mistake_agent" in value)


def _history_of(value: dict[str, Any]) -> list[dict[str, Any]]:
    return dicts_in(value.get("history")) or dicts_in(value.get("chat_history"))


def _add_event(builder: TraceBuilder, event: dict[str, Any]) -> None:
    """A message or an event of AgentChat."""
    kind, agent, content = event["type"], event["source"], event.get("content")
    at, usage = event.get("created_at"), api_usage(event.get("models_usage"), None)
    text = text_of(content)
    if agent.lower() in _OF_THE_USER and kind != "UserInputRequestedEvent":
        builder.prompt(text or f"[{kind}]", at)
    elif kind.startswith("ToolCall") and isinstance(content, list):
        _add_tools(builder, event, agent, dicts_in(content))
    elif kind == "HandoffMessage":
        builder.handoff(str(event.get("target")), at)
    elif kind == "ThoughtEvent":
        builder.think(text, at)
    elif kind == "MemoryQueryEvent":
        builder.retrieval(agent, content, at)
    elif usage is not None:
        builder.reply(_said(event), tokens=usage, at=at, agent=agent)
    elif kind.endswith("Message") and kind != "StopMessage":
        builder.say(_said(event))  # not made by a model: a summary of tool results
    else:
        builder.dropped(kind)


def _add_tools(
    builder: TraceBuilder, event: dict[str, Any], agent: str, items: list[dict[str, Any]]
) -> None:
    """The calls of one reply, or their results."""
    at = event.get("created_at")
    if event["type"] == "ToolCallExecutionEvent":
        for result in items:
            key, failed = name_of(result.get("call_id")), result.get("is_error") is True
            builder.result(key, result.get("content"), failed=failed, at=at)
        return
    builder.reply(tokens=api_usage(event.get("models_usage"), None), at=at, agent=agent)
    for call in items:
        name, key = name_of(call.get("name")) or "unnamed", name_of(call.get("id"))
        builder.call(name, call.get("arguments"), key=key, at=at, agent=agent)


def _said(event: dict[str, Any]) -> Any:
    content = event.get("content")
    return text_of(content) or (str(content) if content else None)


def _add_history(builder: TraceBuilder, value: dict[str, Any]) -> bool:
    """Texts with their speakers; whether there are calls of tools among them."""
    conversation = Conversation(builder)
    question = name_of(value.get("question"))
    builder.prompt(question or "")
    history = _history_of(value)
    executed = [one for one in history if _EXECUTED.match(text_of(one.get("content")))]
    executors = {name_of(one.get("name")) for one in executed}
    code = None
    has_calls = False
    for number, message in enumerate(history):
        text, speaker = text_of(message.get("content")), name_of(message.get("name"))
        if message.get("tool_calls") or message.get("tool_responses"):
            has_calls = True
            _add_calls(conversation, message, speaker)
        elif question is not None and number == 0 and question.strip() in text:
            builder.dropped("the task, as the team was given it")
        elif ran := _EXECUTED.match(text):
            draft = builder.call(speaker or "execute_code", code, alone=True)
            builder.result(draft, ran.group(2), exit_code=int(ran.group(1)))
        elif speaker is not None and speaker in executors:
            builder.dropped("message of the executor without a result")
        else:
            _add_speech(builder, text, speaker, str(message.get("role")))
        fenced = _FENCED.findall(text)
        code = {"code": "\n".join(fenced)} if fenced else None
    return has_calls


def _add_calls(conversation: Conversation, message: dict[str, Any], speaker: str | None) -> None:
    if message.get("tool_responses"):
        for one in dicts_in(message["tool_responses"]):
            conversation.add({"role": "tool", **one})
    else:
        conversation.reply(list(message_parts(message)), agent=speaker)


def _add_speech(builder: TraceBuilder, text: str, speaker: str | None, role: str) -> None:
    """What an agent said. In runs of Magentic-One the speaker is in `role`."""
    found = None if speaker is not None else _ROLE.match(role)
    if found is not None and found.group(2):
        builder.handoff(found.group(3))
        builder.drafts[-1].set(input=text)
    elif found is not None and found.group(3) == "thought":
        builder.think(text)
    elif found is not None and "termination" in found.group(3):
        builder.dropped("reason why the team stopped")
    elif speaker is None and role in _OF_THE_USER:
        builder.prompt(text)
    else:
        builder.reply(text, agent=speaker or (found.group(1) if found else role))
