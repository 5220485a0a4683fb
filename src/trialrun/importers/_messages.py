"""Messages of model APIs and frameworks, in any of their shapes, to the steps of a trace.

OpenAI's chat and Responses, Anthropic's messages, LangChain's messages: whatever was recorded in
one of these shapes, in a file or by a running agent, is read here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from trialrun.importers._api_usage import api_usage
from trialrun.importers._blocks import (
    Call,
    Part,
    Result,
    Thought,
    Whole,
    block_result,
    is_result,
    message_parts,
    prompt_text,
    tool_result,
)
from trialrun.importers._builder import Draft, TraceBuilder
from trialrun.importers._items import is_item, is_output, item_parts, output_result
from trialrun.importers._values import as_arguments, dicts_in, name_of
from trialrun.model.trace import (
    COSTS,
    LLM_CALLS,
    TIMINGS,
    TOKENS,
    TOOL_CALLS,
    StepStatus,
    Trace,
)

FINAL_TOOLS = frozenset(
    {"finish", "submit", "final_answer", "final_result", "yield", "attempt_completion"}
)
"""Tools by which agents hand over their answer: it is in the arguments of the call."""

_ANSWERS = ("message", "answer", "response", "result", "output", "text")
_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "aimessagechunk": "assistant",
    "humanmessagechunk": "user",
    "toolmessagechunk": "tool",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}


def plain_message(message: dict[str, Any]) -> dict[str, Any]:
    """A message of LangChain without its wrapper: `{"lc": 1, "id": […, "AIMessage"], …}`."""
    inner = message.get("kwargs")
    name = message.get("id")
    if "lc" in message and isinstance(inner, dict) and isinstance(name, list) and name:
        kind = str(name[-1]).removesuffix("Chunk").removesuffix("Message").lower()
        return {**inner, "type": inner.get("type") or kind}
    data = message.get("data")
    if isinstance(data, dict) and "content" in data and "content" not in message:
        return {**data, "type": message.get("type")}
    return message


def role_of(message: Any) -> str | None:
    """`user`, `assistant`, `tool` or `system`; None if it is not a message."""
    if not isinstance(message, dict):
        return None
    message = plain_message(message)
    for name in ("role", "type"):
        if isinstance(message.get(name), str) and message[name].lower() in _ROLES:
            return _ROLES[message[name].lower()]
    return None


class Conversation:
    """Adds messages to a trace, in their order.

    Where `in_history` is set, replies are not model calls of this recording: their calls and texts
    are kept, and they have no step. `parent` is the key of the call that started a subagent. What
    is known to be missing is not claimed as recorded: its kinds of evidence are in `lost`.
    """

    def __init__(self, builder: TraceBuilder) -> None:
        self.builder = builder
        self.in_history = False
        self.parent: str | None = None
        self.lost: set[str] = set()
        self._open: list[Part] = []  # the items of the reply that is being read
        self._last_call: Draft | None = None  # since the last text of the agent
        self._called: set[str] = set()  # names of tools
        self._without_key: list[Draft] = []  # calls that a result names by the tool's name

    def add_all(self, messages: Iterable[Any]) -> None:
        """Add messages and items, in their order."""
        for message in messages:
            self.add(message)
        self.close()

    def add(self, message: Any) -> None:
        """Add one message or item of any shape."""
        if not isinstance(message, dict):
            self.builder.dropped("entry that is not a message")
            return
        if is_item(message) and (is_output(message) or role_of(message) is None):
            self._add_item(message)
            return
        self.close()
        message = plain_message(message)
        role = role_of(message)
        if role == "assistant":
            self.reply_message(message)
        elif role == "user":
            self._add_user(message)
        elif role == "tool":
            self.result(tool_result(message))
        elif role is None:
            self.builder.dropped(f"entry of type {str(message.get('type'))[:40]}")

    def _add_item(self, item: dict[str, Any]) -> None:
        if is_output(item):
            self._open += item_parts(item)
            return
        self.close()
        if str(item.get("type")).endswith("_output"):
            self.result(output_result(item))

    def close(self) -> None:
        """End a reply whose items are read one by one."""
        parts, self._open = self._open, []
        if parts:
            self.reply(parts)

    def _add_user(self, message: dict[str, Any]) -> None:
        content = message.get("content")
        for block in dicts_in(content):
            if is_result(block):
                self.result(block_result(block))
        self.prompt(prompt_text(content), message.get("timestamp") or message.get("created_at"))

    def prompt(self, text: str, at: Any = None) -> None:
        """A message of the user."""
        if text.strip():
            self._end_turn()
            self.builder.prompt(text, at)

    def result(self, found: Result) -> None:
        """The result of a call."""
        key: str | Draft | None = found.key
        if found.key is None:
            calls = [draft for draft in self._without_key if _named(draft, found.name)]
            key = calls[0] if calls else None
            self._without_key = [draft for draft in self._without_key if draft is not key]
        if not self.builder.result(
            key, found.value, failed=found.failed, error=found.error, exit_code=found.exit_code
        ):
            self.lost.add(TOOL_CALLS)

    def lose_reply(self) -> None:
        """The history has a reply that was not recorded: there are no figures of the whole run."""
        self.builder.dropped("reply in the history, without its usage")
        self.lost |= {LLM_CALLS, TOKENS, COSTS, TIMINGS}

    def lose_history(self) -> None:
        """A request continues a response that was not recorded: nothing of it is known."""
        self.lose_reply()
        self.lost.add(TOOL_CALLS)

    def trace(self, carries: Collection[str]) -> Trace:
        """The trace, with the kinds of evidence that the recording has whole."""
        return self.builder.trace(set(carries) - self.lost)

    def name_call(self, call: Call) -> bool:
        """Whether a call with a key was recorded without it before; from now on it has the key."""
        for draft in self._without_key:
            known = draft.fields.get("tool_args")
            if _named(draft, call.name) and known == as_arguments(call.arguments) and call.key:
                self.builder.name_call(draft, call.key)
                self._without_key.remove(draft)
                return True
        return False

    def reply_message(self, message: dict[str, Any], **more: Any) -> None:
        """A reply in the shape of OpenAI's chat, Anthropic's messages or LangChain."""
        facts = message.get("response_metadata")
        facts = facts if isinstance(facts, dict) else {}
        model = _first_text(message.get("model"), facts.get("model_name"), facts.get("model"))
        usage = next(
            (
                given
                for given in (message.get("usage_metadata"), message.get("usage"))
                if isinstance(given, dict)
            ),
            facts.get("token_usage") or facts.get("usage"),
        )
        more = {
            "model": model,
            "key": name_of(message.get("id")),
            "usage": usage,
            "agent": name_of(message.get("name")),
            "at": message.get("timestamp") or message.get("created_at"),
            **{name: value for name, value in more.items() if value is not None},
        }
        self.reply(list(message_parts(message)), **more)

    def response(self, body: dict[str, Any], **more: Any) -> bool:
        """The body of a response of one of the three APIs; False if it is none of them."""
        self.close()
        found = {"model": name_of(body.get("model")), "usage": body.get("usage")}
        found |= {"key": name_of(body.get("id")), **more}
        choices = dicts_in(body.get("choices"))
        if choices and isinstance(choices[0].get("message"), dict):
            found.setdefault("at", body.get("created"))
            self.reply_message(choices[0]["message"], **found)
            return True
        if isinstance(body.get("output"), list):
            found.setdefault("at", body.get("created_at"))
            parts = [part for item in dicts_in(body["output"]) for part in item_parts(item)]
            self.reply(parts, **found)
            return True
        if body.get("role") == "assistant" and "content" in body:
            self.reply_message(body, **found)
            return True
        return False

    def reply(
        self,
        parts: list[Part],
        *,
        model: str | None = None,
        key: str | None = None,
        usage: Any = None,
        agent: str | None = None,
        at: Any = None,
        ms: Any = None,
        cost: Any = None,
    ) -> None:
        """One reply of a model: its texts, its reasoning, its calls, and results of those calls.

        Text before the last call of a provider's own tool is a comment, text after it the answer.
        """
        texts = _segments(parts)
        if self.in_history:
            self.lose_reply()
            if texts:
                self.builder.say(texts[-1])
        else:
            if cost is None and isinstance(usage, dict):
                cost = usage.get("cost") or None
            self.builder.reply(
                "\n".join(texts),
                model=model,
                key=key,
                at=at,
                tokens=api_usage(usage, model),
                cost=cost,
                ms=ms,
                parent=self.parent,
                agent=agent,
                is_answer=self.parent is None,
            )
        self._last_call = None
        for part in parts:
            self._add_part(part, at, agent)
        if texts and self.parent is None:
            self._last_call = None
            if len(texts) > 1:
                self.builder.say(texts[-1])
            if isinstance(parts[-1], str):
                self.builder.ends_in = "message"

    def _add_part(self, part: Part, at: Any, agent: str | None) -> None:
        if isinstance(part, Thought):
            self.builder.think(part.text, at)
        elif isinstance(part, Result):
            self.result(part)
        elif isinstance(part, Call):
            self._last_call = self.call(part, at=at, agent=agent, alone=self.in_history)

    def call(self, call: Call, **more: Any) -> Draft:
        """A call that a model asked for."""
        name, arguments, key, parent, done = call
        draft = self.builder.call(name, arguments, key=key, parent=parent, **more)
        self._called.add(name)
        if key is None:
            self._without_key.append(draft)
        if done:
            draft.fields["status"] = StepStatus.SUCCESS
        return draft

    def is_first(self, found: Result) -> bool:
        """Whether a result without a key is not a repeated one: its call waits, or is not known."""
        if not self._called or (found.name is not None and found.name not in self._called):
            return True
        return any(_named(draft, found.name) for draft in self._without_key)

    def _end_turn(self) -> None:
        """The answer of a turn may be in the arguments of its last call."""
        call, self._last_call = self._last_call, None
        value = None if call is None else _final_value(call)
        if value is not None:
            ends_in = self.builder.ends_in
            self.builder.say(value)
            self.builder.ends_in = ends_in if self.in_history else "message"

    def finish(self) -> None:
        """All was read."""
        self.close()
        self._end_turn()


def _segments(parts: list[Part]) -> list[str]:
    """The texts between calls and results, and whole messages.

    A text that is split for citations is one text.
    """
    found: list[str] = []
    starts = True
    for part in parts:
        if not isinstance(part, str):
            starts = starts or not isinstance(part, Thought)
        elif part and (starts or not found or isinstance(part, Whole)):
            found.append(part)
            starts = False
        elif part:
            found[-1] += part
    return [text for text in found if text.strip()]


def _final_value(draft: Draft) -> Any:
    """The answer in the arguments of a call of one of `FINAL_TOOLS`."""
    arguments = draft.fields.get("tool_args")
    if draft.fields.get("tool_name") not in FINAL_TOOLS or not isinstance(arguments, dict):
        return None
    if len(arguments) == 1:
        return next(iter(arguments.values()))
    return next((arguments[name] for name in _ANSWERS if name in arguments), arguments or None)


def _named(draft: Draft, name: str | None) -> bool:
    return name is None or draft.fields.get("tool_name") == name


def _first_text(*values: Any) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)
