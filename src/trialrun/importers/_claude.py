"""Reads the rows that Claude Code writes, in session files and in its event stream, into a trace.

A row holds one block of a message: rows of one request are put together, and its usage, which each
of them repeats, is counted once. What a row holds beyond these fields is not even decoded.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from trialrun.importers._builder import Draft, TraceBuilder
from trialrun.importers._source import decode_json
from trialrun.importers._usage import counted
from trialrun.importers._values import text_of
from trialrun.model.trace import StepStatus, TokenUsage

SYNTHETIC = "<synthetic>"
"""The model name of Claude Code's own messages, such as an API error."""

INTERRUPTED = "[Request interrupted"

# Rows of the user that Claude Code itself has written, by their beginning.
_PROGRAM_TEXTS = (
    "<local-command-",
    "<command-name>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<agent-message",
    "<teammate-message",
    "<ci-monitor-event>",
    "<user-memory-input>",
    INTERRUPTED,
    "Caveat: The messages below",
    "Stop hook feedback",
    "/compact",
)
# Context that Claude Code puts around a prompt: `<ide_selection>a.py</ide_selection>`.
_CONTEXT = re.compile(r"\s*<(ide_\w+|system-reminder)>.*?</\1>\s*", re.DOTALL)
# `<command-message>ship</command-message>\n<command-name>/ship</command-name>`: a prompt by name.
_COMMAND = re.compile(r"<command-name>\s*(/?[^<]*?)\s*</command-name>")
# `<command-args>for main</command-args>`
_COMMAND_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
# `Exit code 128` at the beginning of the result of a command that failed.
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,10})\b")

_Plain: TypeAlias = str | int | float | bool | list[Any] | None


class Message(Struct):
    """A message of the model or of the user."""

    id: Any = None
    model: Any = None
    content: Any = None  # its blocks, once it has been read
    usage: Any = None

    def __post_init__(self) -> None:
        content = self.content
        if type(content) is str:
            self.content = [{"type": "text", "text": content}]
        elif type(content) is not list:
            self.content = []
        elif not all(type(block) is dict for block in content):
            self.content = [block for block in content if type(block) is dict]


class Details(Struct, rename={"agent": "agentId", "agent_type": "agentType", "exit": "exitCode"}):
    """What Claude Code knows of a result beside its text."""

    agent: Any = None
    agent_type: Any = None
    interrupted: Any = None
    exit: Any = None
    exit_code: Any = None


class Attachment(Struct, rename={"mode": "commandMode"}):
    """What was added to a conversation, such as a prompt typed while the agent worked."""

    type: Any = None
    prompt: Any = None
    mode: Any = None
    origin: Any = None


class Progress(Struct, rename={"agent": "agentId"}):
    """A report of a running call: a row of a subagent is in `message`."""

    type: Any = None
    agent: Any = None
    message: Line | _Plain = None


_NAMES = {
    "parent": "parentUuid",
    "logical_parent": "logicalParentUuid",
    "session": "sessionId",
    "stream_session": "session_id",
    "branch": "gitBranch",
    "request": "requestId",
    "request_ref": "requestRef",
    "sidechain": "isSidechain",
    "agent": "agentId",
    "meta": "isMeta",
    "compact": "isCompactSummary",
    "hidden": "isVisibleInTranscriptOnly",
    "api_error": "isApiErrorMessage",
    "synthetic": "isSynthetic",
    "details": "toolUseResult",
    "stream_details": "tool_use_result",
    "caller": "parent_tool_use_id",
    "progress_of": "parentToolUseID",
    "ai_title": "aiTitle",
    "custom_title": "customTitle",
    "model_usage": "modelUsage",
    "total_cost": "totalCostUSD",
    "unknown_cost": "hasUnknownModelCost",
    "row_cost": "costUSD",
}


class Line(Struct, rename=_NAMES):
    """One row of a session file or of the event stream."""

    type: Any = None
    subtype: Any = None
    uuid: Any = None
    parent: Any = None
    logical_parent: Any = None
    session: Any = None
    stream_session: Any = None
    timestamp: Any = None
    cwd: Any = None
    version: Any = None
    branch: Any = None
    request: Any = None
    request_ref: Any = None
    sidechain: Any = None
    agent: Any = None
    subagent_type: Any = None
    meta: Any = None
    compact: Any = None
    hidden: Any = None
    api_error: Any = None
    synthetic: Any = None
    origin: Any = None
    message: Message | _Plain = None
    details: Details | _Plain = None
    stream_details: Details | _Plain = None
    caller: Any = None
    attachment: Attachment | _Plain = None
    data: Progress | _Plain = None
    progress_of: Any = None
    summary: Any = None
    ai_title: Any = None
    custom_title: Any = None
    model_usage: Any = None
    total_cost: Any = None
    unknown_cost: Any = None
    row_cost: Any = None
    # of the last row of the event stream
    result: Any = None
    structured_output: Any = None
    errors: Any = None
    is_error: Any = None
    total_cost_usd: Any = None
    duration_ms: Any = None

    def __post_init__(self) -> None:
        """Rows are looked up by these three: what is not text is no name."""
        if type(self.type) is not str:
            self.type = None
        if type(self.uuid) is not str:
            self.uuid = None
        if type(self.parent) is not str:
            self.parent = None


_DECODER = msgspec.json.Decoder(Line)


def line_of(data: bytes) -> Line | None:
    """The row; None if it is JSON of another kind. TraceError if it is not JSON."""
    try:
        return _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        value = decode_json(data)
        return msgspec.convert(value, Line) if isinstance(value, dict) else None


def blocks_of(line: Line) -> list[dict[str, Any]]:
    """The blocks of its message."""
    return line.message.content if isinstance(line.message, Message) else []


def is_result(block: dict[str, Any]) -> bool:
    """Whether it is the result of a call: of a tool here, or of one that the provider runs."""
    kind = block.get("type")
    return isinstance(kind, str) and kind.endswith("tool_result")


def own_text(line: Line) -> str:
    """The text of a row of the user, without context that was put around it."""
    texts = []
    for block in blocks_of(line):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block.get("type") in ("image", "document"):
            texts.append(f"[{block['type']}]")
    text = "\n".join(texts).strip()
    while found := _CONTEXT.match(text):
        text = text[found.end() :]
    return text


def prompt_of(line: Line) -> str:
    """What the user asked for in this row; empty if Claude Code itself wrote the row."""
    if line.meta is True or line.compact is True or line.hidden is True or line.synthetic is True:
        return ""
    return "" if _is_of_program(line.origin) else typed(own_text(line))


def typed(text: str) -> str:
    """The text as the user typed it; empty if it is one of Claude Code's own texts."""
    if text.startswith("<command-message>"):
        name, args = _COMMAND.search(text), _COMMAND_ARGS.search(text)
        return " ".join(found[1].strip() for found in (name, args) if found).strip()
    return "" if text.startswith(_PROGRAM_TEXTS) else text


def queued_prompt(added: Attachment) -> str:
    """The prompt that was typed while the agent worked, which is delivered as an attachment."""
    if added.mode not in (None, "prompt") or _is_of_program(added.origin):
        return ""
    return typed(text_of(added.prompt).strip())


def _is_of_program(origin: Any) -> bool:
    return isinstance(origin, dict) and origin.get("kind") not in (None, "human")


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
        found = counted(
            model,
            input=usage.get("input_tokens"),
            output=usage.get("output_tokens"),
            cached=usage.get("cache_read_input_tokens"),
            written=usage.get("cache_creation_input_tokens"),
            cache_inside=False,
        )
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
        results = [block for block in blocks_of(line) if is_result(block)]
        for block in results:
            self._result(line, block)
        if agent is None and not results:
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


def request_key(line: Line) -> str | None:
    """What rows of one request have in common."""
    if type(line.request) is str and line.request:
        return line.request
    given = line.message.id if isinstance(line.message, Message) else None
    return next((key for key in (line.request_ref, given) if isinstance(key, str) and key), None)


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
