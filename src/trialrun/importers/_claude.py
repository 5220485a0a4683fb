"""Reads the rows that Claude Code writes, in session files and in its event stream, into a trace.

A row holds one block of a message: rows of one request are put together, and its usage, which each
of them repeats, is counted once.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from trialrun.importers._builder import Draft, TraceBuilder
from trialrun.importers._claude_rows import (
    INTERRUPTED,
    SYNTHETIC,
    Attachment,
    Details,
    Line,
    Message,
    blocks_of,
    is_result,
    own_text,
    prompt_of,
    queued_prompt,
    request_key,
)
from trialrun.importers._claude_usage import row_tokens
from trialrun.importers._values import text_of
from trialrun.model.trace import StepStatus, TokenUsage

# `Exit code 128` at the beginning of the result of a command that failed.
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,10})\b")


class Agent(Struct):
    """A subagent: its id, its name, and the call that started it."""

    id: str
    name: str | None = None
    started_by: str | None = None


class Reader:
    """Tells a builder what the rows say, in their order."""

    def __init__(self, builder: TraceBuilder) -> None:
        self.builder = builder
        self.stopped: str | None = None  # why the agent stopped before its answer
        self._early: dict[str, tuple[Line, dict[str, Any]]] = {}  # results before their calls
        self._usage: dict[str, TokenUsage] = {}
        self._latest: tuple[str | None, Any] = (None, None)  # a request, and its usage as given

    def read(self, line: Line, agent: Agent | None = None) -> None:
        """One row, of the agent itself or of a subagent."""
        before = self.builder.ends_in
        if line.type == "assistant":
            self._assistant(line, agent)
        elif line.type == "user":
            self._user(line, agent)
        elif line.type == "attachment" and agent is None:
            self._attachment(line)
        if agent is not None:  # what a subagent does last is not what the run ends in
            self.builder.ends_in = before

    def _attachment(self, line: Line) -> None:
        added = line.attachment
        if not isinstance(added, Attachment):
            return
        if added.type == "queued_command":
            self._prompt(queued_prompt(added), line)
        elif added.type == "max_turns_reached":
            self.stopped = "the most turns that were allowed are reached"

    def _assistant(self, line: Line, agent: Agent | None) -> None:
        message = line.message
        if not isinstance(message, Message):
            return
        blocks = blocks_of(line)
        model = message.model if isinstance(message.model, str) and message.model else None
        if model == SYNTHETIC:
            if line.api_error is True and agent is None:
                self.stopped = text_of(blocks)[:200] or "API error"
            return
        parent = agent.started_by if agent else None
        self._reply(line, message, model, blocks, agent)
        for block in blocks:
            kind = block.get("type")
            if kind == "thinking" and isinstance(block.get("thinking"), str):
                self.builder.think(block["thinking"], line.timestamp, parent)
            elif isinstance(kind, str) and kind.endswith("tool_use"):
                self._call(line, block, agent)
            elif is_result(block):
                self._result(line, block)
        if agent is None:
            self.stopped = None

    def _reply(
        self,
        line: Line,
        message: Message,
        model: str | None,
        blocks: list[dict[str, Any]],
        agent: Agent | None,
    ) -> None:
        key = request_key(line)
        draft = self.builder.reply(
            "\n".join(_texts(blocks)) or None,
            model=model,
            key=key,
            at=line.timestamp,
            tokens=self._tokens(key, message.usage, model),
            cost=line.row_cost or None,
            parent=agent.started_by if agent else None,
            agent=agent.name if agent else None,
            is_answer=agent is None,
        )
        if agent:
            draft.note(subagent=agent.id)

    def _tokens(self, key: str | None, usage: Any, model: str | None) -> TokenUsage | None:
        """The usage of the request. It grows while the reply streams: the largest is right."""
        if not isinstance(usage, dict) or (key is not None and self._latest == (key, usage)):
            return None
        self._latest = (key, usage)
        found = row_tokens(usage, model)
        if key is None or found is None:
            return found
        known = self._usage.get(key)
        if known is not None and known.total_tokens >= found.total_tokens:
            return None
        self._usage[key] = found
        return found

    def _call(self, line: Line, block: dict[str, Any], agent: Agent | None) -> None:
        name, key = block.get("name"), block.get("id")
        if not isinstance(name, str) or not name:
            return
        arguments = block.get("input")
        draft = self.builder.call(
            name,
            arguments if arguments is not None else {},
            key=key if isinstance(key, str) else None,
            at=line.timestamp,
            parent=agent.started_by if agent else None,
            agent=agent.name if agent else None,
        )
        draft.note(
            cwd=line.cwd if isinstance(line.cwd, str) else None,
            subagent=agent.id if agent else None,
        )
        if isinstance(key, str) and key in self._early:
            self._result(*self._early.pop(key))

    def finish(self) -> None:
        """Report results whose calls never came."""
        for _ in self._early:
            self.builder.dropped("result without a call")

    def _user(self, line: Line, agent: Agent | None) -> None:
        others = 0
        for block in blocks_of(line):
            if is_result(block):
                self._result(line, block)
            else:
                others += 1
        if others and agent is None:
            if own_text(line).startswith(INTERRUPTED):
                self.stopped = "interrupted by the user"
            self._prompt(prompt_of(line), line)

    def _prompt(self, text: str, line: Line) -> None:
        if text:
            self.stopped = None
            self.builder.prompt(text, line.timestamp)

    def _result(self, line: Line, block: dict[str, Any]) -> None:
        key = block.get("tool_use_id")
        if not isinstance(key, str):
            self.builder.dropped("result without a call")
            return
        draft = self.builder.find_call(key)
        if draft is None:
            self._early.setdefault(key, (line, block))
            return
        content = _content(block.get("content"))
        details = line.details if line.details is not None else line.stream_details
        known = details if isinstance(details, Details) else Details()
        failed = block.get("is_error") is True or known.interrupted is True
        if draft.fields["status"] is not StepStatus.PENDING:
            self._again(draft, content, failed)
            return
        self.builder.result(
            draft,
            content,
            failed=failed,
            exit_code=_exit_code(known, content, failed),
            at=line.timestamp,
        )

    def _again(self, draft: Draft, content: Any, failed: bool) -> None:
        """A second result of a call: a failure counts, whichever of the two it is."""
        if draft.fields["tool_result"] == content:
            self.builder.repeated("tool result")
            return
        self.builder.dropped("second, different result of a call")
        if failed and draft.fields["status"] is StepStatus.SUCCESS:
            draft.fields["status"] = StepStatus.FAILURE
            draft.fields["tool_result"] = content


def _texts(blocks: list[dict[str, Any]]) -> list[str]:
    return [
        block["text"]
        for block in blocks
        if block.get("type") == "text" and isinstance(block.get("text"), str)
    ]


def _content(content: Any) -> Any:
    """The text of a result that has one or several text blocks; anything else unchanged."""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = _texts(content)
        if len(texts) == len(content):
            return "\n".join(texts)
    return "" if content is None else content


def _exit_code(details: Details, content: Any, failed: bool) -> int | None:
    """The exit code of a command: recorded, or at the beginning of the text of a failure."""
    if details.interrupted is True:
        return None
    for given in (details.exit, details.exit_code):
        if type(given) is int:
            return given
    found = _EXIT_CODE.match(content) if failed and isinstance(content, str) else None
    return (int(found[1]) or None) if found else None
