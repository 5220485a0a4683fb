"""Puts the calls of a recorded wire together to one run, although each repeats the history.

Each request has the messages so far. What was not seen before is new: prompts, and results of
local tools. A conversation that begins while a call of another one is open is a subagent's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import takewhile
from typing import Any

from trialrun.importers._blocks import (
    Call,
    Part,
    Result,
    block_result,
    calls_of,
    is_result,
    message_parts,
    prompt_text,
    tool_result,
)
from trialrun.importers._items import is_item, is_output, item_parts, output_result
from trialrun.importers._messages import FINAL_TOOLS, Conversation, plain_message, role_of
from trialrun.importers._values import as_arguments, dicts_in, name_of, text_of
from trialrun.importers._wire import add_response, messages_in
from trialrun.importers.base import TraceBuilder
from trialrun.model.trace import StepStatus


class _Thread:
    """One conversation of an agent with a model."""

    def __init__(self, number: int, parent: str | None) -> None:
        self.number = number
        self.parent = parent
        self.seen: Counter[str] = Counter()  # texts, and calls without a key
        self.open: dict[str, None] = {}  # calls of its last reply that have no result yet
        self.asked: list[int] = []  # hashes of the messages of its last request


class Threads:
    """The calls of one recording, in their order."""

    def __init__(self, builder: TraceBuilder) -> None:
        self.builder = builder
        self.conversation = Conversation(builder)
        self.threads: list[_Thread] = []
        self._by_key: dict[str, _Thread] = {}  # keys of calls and responses: the latest thread
        self._by_prompt: dict[str, _Thread] = {}  # by the first prompt

    def add(self, request: dict[str, Any], body: dict[str, Any], **more: Any) -> None:
        """Add one call: what is new in its request, then its response."""
        messages = [
            plain_message(message)
            for message in dicts_in(messages_in(request))
            if message is not None
        ]
        before = name_of(request.get("previous_response_id"))
        if before is not None and before not in self._by_key:
            self.conversation.lose_history()
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
        known = [self._by_key[key] for key in keys if key in self._by_key]
        if known:
            return max(known, key=lambda thread: thread.number)
        first = _first_prompt(messages)
        if first is not None and first in self._by_prompt:
            thread = self._by_prompt[first]
            texts = [text for message in messages if (text := _text(message))]
            if not thread.open and len(texts) == 1 and not any(map(_is_reply, messages)):
                thread.seen.clear()  # the same question once more, in a new run
            return thread
        last = self.threads[-1] if self.threads else None
        parent = next(reversed(last.open)) if last is not None and last.open else None
        thread = _Thread(len(self.threads), parent)
        self.threads.append(thread)
        if first is not None:
            self._by_prompt[first] = thread
        return thread

    def _own(self, thread: _Thread, key: str) -> None:
        """Note that a call or a response is of this thread."""
        before = self._by_key.setdefault(key, thread)
        if before.number < thread.number:
            self._by_key[key] = thread

    def _request(self, thread: _Thread, messages: list[dict[str, Any]], is_whole: bool) -> None:
        found: Counter[str] = Counter()  # texts and calls without a key, of this request

        def is_new(what: str) -> bool:
            found[what] += 1
            if is_whole and found[what] <= thread.seen[what]:
                return False
            thread.seen[what] += 1
            return True

        said = self._last_reply(thread, messages) if is_whole else ()
        after_result = in_items = False
        for number, message in enumerate(messages):
            text = _text(message)
            if _is_reply(message):
                new = [text is not None and is_new(text)]
                new += [self._past_part(thread, part, is_new) for part in _parts(message)]
                if any(new) and not in_items and number not in said:
                    self.conversation.lose_reply()
                # A reply of the Responses API is several items: it counts once.
                in_items = is_item(message) and (in_items or any(new))
                after_result = False
                continue
            in_items = False
            for result in _results_in(message):
                self._result(thread, result)
            if text is not None and is_new(text):
                self._new_prompt(thread, message, after_result)
            after_result = self._has_results(message)

    def _last_reply(self, thread: _Thread, messages: list[dict[str, Any]]) -> Collection[int]:
        """The places of the reply to the last request, where this request continues it.

        Frameworks change its text: they leave its reasoning out, or add what a tool said.
        """
        places = [n for n, message in enumerate(messages) if role_of(message) != "system"]
        asked = [hash(_identity(messages[n])) for n in places]
        before, thread.asked = thread.asked, asked
        if not before or asked[: len(before)] != before:
            return ()
        return [*takewhile(lambda n: _is_reply(messages[n]), places[len(before) :])]

    def _new_prompt(self, thread: _Thread, message: dict[str, Any], after_result: bool) -> None:
        if thread.parent is not None:
            self.builder.dropped("prompt of a subagent")
        elif after_result:
            self.builder.dropped("text that the framework sent with a tool's result")
        else:
            self.conversation.prompt(prompt_text(message.get("content")))

    def _past_part(self, thread: _Thread, part: Part, is_new: Callable[[str], bool]) -> bool:
        """Whether it is a call of a reply that was not recorded: the recording began later."""
        if isinstance(part, Result):
            self._result(thread, part)
        if not isinstance(part, Call):
            return False
        if part.key is None:
            if not is_new(_signature(part.name, as_arguments(part.arguments))):
                return False
        elif self.builder.find_call(part.key) is not None:
            return False
        else:
            self._own(thread, part.key)
            if self.conversation.name_call(part):
                return False
        self.conversation.call(part, alone=True)
        return True

    def _result(self, thread: _Thread, result: Result) -> None:
        draft = self.builder.find_call(result.key or "")
        if result.key is None:
            is_new = self.conversation.is_first(result)
        else:
            is_new = draft is None or "tool_result" not in draft.fields
        if is_new:
            self.conversation.result(result)
        thread.open.pop(result.key or "", None)

    def _has_results(self, message: dict[str, Any]) -> bool:
        """Whether it has results of calls; not of calls by which the agent has answered."""
        calls = [self.builder.find_call(result.key or "") for result in _results_in(message)]
        names = {call.fields.get("tool_name") for call in calls if call is not None}
        return bool(calls) and not names & FINAL_TOOLS

    def _remember(self, thread: _Thread, known: int, body: dict[str, Any]) -> None:
        """What the reply has said and asked for: later requests repeat it."""
        if isinstance(body.get("id"), str):
            self._own(thread, body["id"])
        for key in filter(None, (name_of(item.get("id")) for item in dicts_in(body.get("output")))):
            self._own(thread, key)
        thread.open = {}
        for draft in self.builder.drafts[known:]:
            if text := _compared(draft.text):
                thread.seen[text] += 1
            name, arguments = draft.fields.get("tool_name"), draft.fields.get("tool_args")
            if name is not None and draft.key is None:
                thread.seen[_signature(name, arguments)] += 1
            elif name is not None and draft.key is not None:
                self._own(thread, draft.key)
                if draft.fields.get("status") is StepStatus.PENDING:
                    thread.open[draft.key] = None


def _text(message: dict[str, Any]) -> str | None:
    """The text of a message of the user or the model, as it is compared."""
    content = message.get("content")
    if role_of(message) == "user":
        return _compared(prompt_text(content)) or None
    return _compared(text_of(content)) or None if role_of(message) == "assistant" else None


def _identity(message: dict[str, Any]) -> tuple[str | None, str | None, frozenset[str]]:
    return role_of(message), _text(message), frozenset(_keys_in(message))


def _compared(text: str) -> str:
    """Without white space: parts of a reply are joined in one way here and in another there."""
    return "".join(text.split())


def _signature(name: str, arguments: dict[str, Any] | None) -> str:
    """Identifies a call without a key. No text has the line break, as `_compared` removes it."""
    return f"{name}\n{arguments}"


def _is_reply(message: dict[str, Any]) -> bool:
    return is_output(message) if is_item(message) else role_of(message) == "assistant"


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    return item_parts(message) if is_item(message) else message_parts(message)


def _first_prompt(messages: list[dict[str, Any]]) -> str | None:
    prompts = (_text(message) for message in messages if role_of(message) == "user")
    return next((text for text in prompts if text is not None), None)


def _results_in(message: dict[str, Any]) -> list[Result]:
    if str(message.get("type")).endswith("_call_output"):
        return [output_result(message)]
    if role_of(message) == "tool":
        return [tool_result(message)]
    return [block_result(block) for block in dicts_in(message.get("content")) if is_result(block)]


def _keys_in(message: dict[str, Any]) -> set[str]:
    """The keys of calls and results in a message or item of a request."""
    keys: list[Any] = [result.key for result in _results_in(message)]
    keys += [call.key for call in calls_of(message)]
    keys += [block.get("id") for block in dicts_in(message.get("content"))]
    keys += [message.get("call_id"), message.get("id")]
    return {key for key in keys if isinstance(key, str) and key}
