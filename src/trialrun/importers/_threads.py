"""Puts the calls of a recorded wire together to one run, although each repeats the history.

Each request has the messages so far. What was not seen before is new: prompts, and results of
local tools. A conversation that begins while a call of another one is open is a subagent's.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from trialrun.importers._blocks import (
    Result,
    block_result,
    calls_of,
    dicts,
    is_result,
    prompt_text,
    text_or_none,
    tool_result,
)
from trialrun.importers._items import output_result
from trialrun.importers._messages import FINAL_TOOLS, Conversation, plain_message, role_of
from trialrun.importers._values import text_of
from trialrun.importers._wire import add_response, messages_in
from trialrun.importers.base import TraceBuilder


class _Thread:
    """One conversation of an agent with a model."""

    def __init__(self, parent: str | None) -> None:
        self.parent = parent
        self.seen: Counter[str] = Counter()  # texts of prompts and replies
        self.keys: set[str] = set()  # of its calls and responses
        self.open: list[str] = []  # calls of its last reply that have no result yet
        self.first: str | None = None


class Threads:
    """The calls of one recording, in their order."""

    def __init__(self, builder: TraceBuilder) -> None:
        self.builder = builder
        self.conversation = Conversation(builder)
        self.threads: list[_Thread] = []

    def add(self, request: dict[str, Any], body: dict[str, Any], **more: Any) -> None:
        """Add one call: what is new in its request, then its response."""
        messages = [
            plain_message(message) for message in dicts(messages_in(request)) if message is not None
        ]
        before = text_or_none(request.get("previous_response_id"))
        thread = self._thread_of(messages, before)
        self._request(thread, messages, is_whole=before is None)
        self.conversation.parent = thread.parent
        known = len(self.builder.drafts)
        add_response(self.conversation, body, **more)
        self._remember(thread, known, body)

    def finish(self) -> None:
        """All was read."""
        self.conversation.finish()
        if len(self.threads) > 1:
            self.builder.facts["conversations"] = len(self.threads)

    def _thread_of(self, messages: list[dict[str, Any]], before: str | None) -> _Thread:
        keys = {key for message in messages for key in _keys_in(message)} | {before}
        texts = [text for message in messages if (text := _text(message))]
        first = _first_prompt(messages)
        for thread in reversed(self.threads):
            if thread.keys & keys:
                return thread
        for thread in reversed(self.threads):
            if first is not None and thread.first == first:
                if not thread.open and len(texts) == 1:
                    thread.seen.clear()  # the same question once more, in a new run
                return thread
        last = self.threads[-1] if self.threads else None
        parent = last.open[-1] if last is not None and last.open else None
        thread = _Thread(parent)
        thread.first = first
        self.threads.append(thread)
        return thread

    def _request(self, thread: _Thread, messages: list[dict[str, Any]], is_whole: bool) -> None:
        found: Counter[str] = Counter() if is_whole else Counter(thread.seen)
        after_result = False
        for message in messages:
            for result in _results_in(message):
                self._result(thread, result)
            text = _text(message)
            role = role_of(message)
            if text is not None:
                found[text] += 1
                if found[text] > thread.seen[text]:
                    thread.seen[text] += 1
                    self._new_text(thread, message, after_result)
            if role == "assistant":
                self._past_calls(thread, message)
            after_result = role != "assistant" and self._has_results(message)

    def _new_text(self, thread: _Thread, message: dict[str, Any], after_result: bool) -> None:
        if role_of(message) == "assistant":
            self.conversation.lose_reply()
        elif thread.parent is not None:
            self.builder.dropped("prompt of a subagent")
        elif after_result:
            self.builder.dropped("text that the framework sent with a tool's result")
        else:
            self.conversation.prompt(prompt_text(message.get("content")))

    def _past_calls(self, thread: _Thread, message: dict[str, Any]) -> None:
        """Calls of replies that were not recorded: the recording began later."""
        for call in calls_of(message):
            if call.key is None or self.builder.find_call(call.key) is not None:
                continue
            if not self.conversation.name_call(call):
                self.builder.call(call.name, call.arguments, key=call.key, alone=True)
            thread.keys.add(call.key)

    def _result(self, thread: _Thread, result: Result) -> None:
        draft = self.builder.find_call(result.key or "")
        if draft is None:
            self.builder.dropped("result without a call")
        elif "tool_result" not in draft.fields:
            self.conversation.result(result)
        thread.open = [key for key in thread.open if key != result.key]

    def _has_results(self, message: dict[str, Any]) -> bool:
        """Whether it has results of calls; not of calls by which the agent has answered."""
        calls = [self.builder.find_call(result.key or "") for result in _results_in(message)]
        names = {call.fields.get("tool_name") for call in calls if call is not None}
        return bool(calls) and not names & FINAL_TOOLS

    def _remember(self, thread: _Thread, known: int, body: dict[str, Any]) -> None:
        """What the reply has said and asked for: later requests repeat it."""
        if isinstance(body.get("id"), str):
            thread.keys.add(body["id"])
        thread.open = []
        for draft in self.builder.drafts[known:]:
            if text := _compared(draft.text):
                thread.seen[text] += 1
            if "tool_name" in draft.fields and draft.key is not None:
                thread.keys.add(draft.key)
                if "tool_result" not in draft.fields:
                    thread.open.append(draft.key)


def _text(message: dict[str, Any]) -> str | None:
    """The text of a message of the user or the model, as it is compared."""
    content = message.get("content")
    if role_of(message) == "user":
        return _compared(prompt_text(content)) or None
    return _compared(text_of(content)) or None if role_of(message) == "assistant" else None


def _compared(text: str) -> str:
    """Without white space: parts of a reply are joined in one way here and in another there."""
    return "".join(text.split())


def _first_prompt(messages: list[dict[str, Any]]) -> str | None:
    prompts = (_text(message) for message in messages if role_of(message) == "user")
    return next((text for text in prompts if text is not None), None)


def _results_in(message: dict[str, Any]) -> list[Result]:
    if str(message.get("type")).endswith("_call_output"):
        return [output_result(message)]
    if role_of(message) == "tool":
        return [tool_result(message)]
    return [block_result(block) for block in dicts(message.get("content")) if is_result(block)]


def _keys_in(message: dict[str, Any]) -> set[str]:
    """The keys of calls and results in a message or item of a request."""
    keys: list[Any] = [result.key for result in _results_in(message)]
    keys += [call.key for call in calls_of(message)]
    keys += [block.get("id") for block in dicts(message.get("content"))]
    keys += [message.get("call_id"), message.get("id")]
    return {key for key in keys if isinstance(key, str) and key}
