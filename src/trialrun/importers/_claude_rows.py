"""The rows that Claude Code writes, in session files and in its event stream, and what they say.

Only the fields below are decoded: a row has many more, and some of them are long.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from trialrun.importers._source import decode_json
from trialrun.importers._values import text_of

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
    usage: Any = None
    total_cost_usd: Any = None
    duration_ms: Any = None

    def __post_init__(self) -> None:
        """Rows are looked up by these three: anything but text is left out."""
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
    blocks = blocks_of(line)
    shown = () if any(map(is_result, blocks)) else ("image", "document")
    for block in blocks:
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block.get("type") in shown:
            texts.append(f"[{block['type']}]")
    text = "\n".join(texts).strip()
    start = 0
    while found := _CONTEXT.match(text, start):
        start = found.end()
    return text[start:]


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


def request_key(line: Line) -> str | None:
    """What rows of one request have in common."""
    if type(line.request) is str and line.request:
        return line.request
    given = line.message.id if isinstance(line.message, Message) else None
    return next((key for key in (line.request_ref, given) if isinstance(key, str) and key), None)
