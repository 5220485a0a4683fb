"""Read sessions of Gemini CLI: one JSON object with `messages`, or (since 2026) a journal of lines.

In the journal a message is written again under the same id when its calls are done, `$set` lines
change the session, and `$rewindTo` takes messages back: what a reader of the journal ends up with
counts. Thoughts are counted beside the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._shell_text import gemini_exit_code
from trialrun.importers._usage import count, counted
from trialrun.importers._values import as_dict, dicts_in, moment, name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import COSTS, EVIDENCE, HANDOFFS, RETRIEVALS

# Gemini CLI itself writes these messages of the user.
_INJECTED = ("<session_context>", "System: Please continue.")
_CANCELLED = "Request cancelled."
_HEADER = ("sessionId", "projectHash")


class GeminiCliImporter(Importer):
    """Reads one session, in the form of one object or of a journal."""

    name = "gemini_cli"
    title = "sessions of Gemini CLI, old (one object) and new (a journal of lines)"
    suffixes = (".json", ".jsonl")
    export = "`~/.gemini/tmp/PROJECT/chats/session-….jsonl`, as Gemini CLI writes it"
    carries = EVIDENCE - {COSTS, HANDOFFS, RETRIEVALS}
    one_run_a_file = True
    when_empty = "a session of Gemini CLI in which nothing ran: it has no prompt and no reply"
    example = (
        '{"sessionId": "s", "projectHash": "p", "startTime": "2026-01-02T03:04:05Z"}\n'
        '{"id": "1", "timestamp": "2026-01-02T03:04:05Z", "type": "user", '
        '"content": [{"text": "2 + 2?"}]}\n'
        '{"id": "2", "timestamp": "2026-01-02T03:04:06Z", "type": "gemini", "content": "", '
        '"model": "m", "tokens": {"input": 9, "output": 2, "cached": 4, "thoughts": 1}}\n'
        '{"id": "2", "timestamp": "2026-01-02T03:04:06Z", "type": "gemini", "content": "4", '
        '"model": "m", "tokens": {"input": 9, "output": 2, "cached": 4, "thoughts": 1}, '
        '"toolCalls": [{"id": "c", "name": "add", "args": {"a": 2, "b": 2}, "status": "success", '
        '"result": [{"functionResponse": {"response": {"output": "4"}}}]}]}\n'
        '{"$set": {"lastUpdated": "2026-01-02T03:04:07Z"}}\n'
    )

    def recognises(self, source: Source) -> bool:
        first = source.objects[0] if source.objects else source.document
        if not isinstance(first, dict):
            return False
        # Copies of a journal may begin after its header.
        replies = (row for row in source.objects if row.get("type") == "gemini")
        return _has_header(first) or any("id" in row and "content" in row for row in replies)

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session = _Session()
        if isinstance(source.document, dict):
            session.change(source.document)
        else:
            for item in source.values():
                if isinstance(item, Problem):
                    yield item
                elif isinstance(item[1], dict):
                    session.line(item[1])
        builder = session.build()
        if not builder.is_empty:
            yield builder.trace(self.carries), []


def _has_header(row: dict[str, Any]) -> bool:
    return all(isinstance(row.get(key), str) for key in _HEADER)


class _Session:
    """The session as a reader of the journal sees it at the end."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = {}
        self.messages: dict[str, dict[str, Any]] = {}
        self.builder = TraceBuilder("gemini_cli")

    def line(self, line: dict[str, Any]) -> None:
        """Read one line of a journal."""
        if isinstance(line.get("$set"), dict):
            self.change(line["$set"])
        elif isinstance(line.get("$rewindTo"), str):
            self._rewind(line["$rewindTo"])
        elif isinstance(line.get("id"), str):
            if line["id"] in self.messages:
                self.builder.repeated("message")
            self.messages[line["id"]] = line
        else:
            self.change(line)

    def change(self, values: dict[str, Any]) -> None:
        """Set values of the session; `messages` are set as a whole."""
        messages = values.get("messages")
        if isinstance(messages, list):
            self.messages = {
                str(message.get("id", number)): message
                for number, message in enumerate(messages)
                if isinstance(message, dict)
            }
        self.header |= {key: value for key, value in values.items() if key != "messages"}

    def _rewind(self, to: str) -> None:
        while to in self.messages:
            self.messages.popitem()  # the last one
            self.builder.dropped("message that the user took back")

    def build(self) -> TraceBuilder:
        """The builder with everything that the session holds."""
        builder, header = self.builder, self.header
        builder.fields["framework"] = "gemini-cli"
        builder.fields["id"] = name_of(header.get("sessionId"))
        if header.get("kind") == "subagent":
            builder.fields["agent_name"] = "subagent"
        for message in self.messages.values():
            kind, at = message.get("type"), message.get("timestamp")
            if kind == "user":
                self._user(message, at)
            elif kind == "gemini":
                self._reply(message, at)
            else:
                self._shown(kind, text_of(message.get("content")).strip())
        if not builder.is_empty:
            builder.fields["completed_at"] = moment(header.get("lastUpdated"))
        return builder

    def _shown(self, kind: Any, text: str) -> None:
        """A note of the program: what was cancelled or failed has no answer."""
        if text == _CANCELLED:
            self.builder.interrupted("the user cancelled the request")
        elif kind == "error" and self.builder.answer is None:
            self.builder.cut_off(f"error: {text}")

    def _user(self, message: dict[str, Any], at: Any) -> None:
        text = text_of(message.get("content"))
        if text.lstrip().startswith(_INJECTED):
            self.builder.dropped("message that Gemini CLI wrote itself")
            return
        self.builder.prompt(text, at)

    def _reply(self, message: dict[str, Any], at: Any) -> None:
        model = message.get("model")
        model = model if isinstance(model, str) else None
        tokens = as_dict(message.get("tokens"))
        self.builder.facts.pop("unfinished", None)  # an error that was overcome
        self.builder.reply(
            text_of(message.get("content")),
            model=model,
            at=at,
            tokens=counted(
                model,
                input=_sum(tokens.get("input"), tokens.get("tool")),
                output=tokens.get("output"),
                cached=tokens.get("cached"),
                reasoning=tokens.get("thoughts"),
                reasoning_inside=False,
            ),
        )
        for thought in dicts_in(message.get("thoughts")):
            parts = (thought.get("subject"), thought.get("description"))
            text = "\n".join(part for part in parts if isinstance(part, str))
            self.builder.think(text, thought.get("timestamp"))
        for call in dicts_in(message.get("toolCalls")):
            self._call(call, at)

    def _call(self, call: dict[str, Any], at: Any) -> None:
        """A call; its own time is when it was done."""
        name, key = call.get("name"), call.get("id")
        draft = self.builder.call(
            name if isinstance(name, str) else "",
            call.get("args"),
            key=key if isinstance(key, str) else None,
            at=at,
        )
        self._result(draft, call)

    def _result(self, draft: Draft, call: dict[str, Any]) -> None:
        status = call.get("status")
        if "result" not in call and status not in ("error", "cancelled"):
            return
        response = [part.get("functionResponse") for part in dicts_in(call.get("result"))]
        answers = [one.get("response") for one in response if isinstance(one, dict)]
        texts = [_text(one) for one in answers if isinstance(one, dict)]
        value: Any = "\n".join(texts) if texts else call.get("resultDisplay")
        failed = status in ("error", "cancelled") or any(
            "error" in one for one in answers if isinstance(one, dict)
        )
        # `status` is "success" for a command that exited with 2.
        code = gemini_exit_code(value) if draft.fields["tool_name"] == "run_shell_command" else None
        self.builder.result(draft, value, failed=failed, exit_code=code, at=call.get("timestamp"))


def _text(response: dict[str, Any]) -> str:
    value = response.get("output", response.get("error", response))
    return value if isinstance(value, str) else str(value)


def _sum(one: Any, other: Any) -> int | None:
    return None if count(one) is None else (count(one) or 0) + (count(other) or 0)
