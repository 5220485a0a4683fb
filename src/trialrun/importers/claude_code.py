"""Read sessions of Claude Code: one JSON object per line, subagents in a folder beside the file.

One model request is written over several lines that repeat its usage: it is counted once. What
subagents did is evidence of the run, so their steps are part of it, in the order of time. Comment
lines (`// …`) are ignored. A line that cannot be read is reported, and the others are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun.errors import Problem
from trialrun.importers.base import Importer, Record, Source
from trialrun.model.evidence import EVIDENCE
from trialrun.model.fidelity import IMPORTED
from trialrun.model.trace import (
    ANSWER,
    ANSWERED,
    HANDOFFS,
    LLM_CALLS,
    REASONING,
    RETRIEVALS,
    TIMINGS,
    TOKENS,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
    Step,
    StepStatus,
    TokenUsage,
    Trace,
)
from trialrun.model.values import LARGEST_COUNT

RECORDED = frozenset(
    {ANSWER, TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS, LLM_CALLS, TOKENS, TIMINGS, REASONING}
    | {HANDOFFS, RETRIEVALS}
)
SYNTHETIC = "<synthetic>"
"""The model name of Claude Code's own messages, such as an API error."""

_KINDS = frozenset(
    {
        "user",
        "assistant",
        "system",
        "progress",
        "summary",
        "queue-operation",
        "file-history-snapshot",
    }
)
# Messages of the user that Claude Code itself has written.
_PROGRAM_TEXTS = (
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-input>",
    "<bash-stdout>",
    "<task-notification>",
    "[Request interrupted",
    "Caveat: The messages below",
)


# Other files of Claude Code in the folders of its sessions.
_OTHER_FILES = frozenset({"sessions-index.json", "settings.json", "settings.local.json"})


class ClaudeCodeImporter(Importer):
    """Reads a session file, with the subagents in the folder beside it."""

    name = "claude_code"
    title = "sessions of Claude Code, with their subagents"
    suffixes = (".jsonl", ".ndjson")
    export = "`~/.claude/projects/…/SESSION.jsonl`, as Claude Code writes it"
    carries = RECORDED
    one_run_a_file = True
    when_empty = "only summaries: no session in it"
    example = (
        '{"type": "user", "uuid": "1", "sessionId": "s", "timestamp": "2026-01-02T03:04:05Z", '
        '"message": {"role": "user", "content": "2 + 2?"}}\n'
        '{"type": "assistant", "uuid": "2", "sessionId": "s", "timestamp": "2026-01-02T03:04:06Z", '
        '"requestId": "r", "message": {"role": "assistant", "model": "m", "content": '
        '[{"type": "text", "text": "4"}], "usage": {"input_tokens": 3, "output_tokens": 1}}}\n'
    )

    def recognises(self, source: Source) -> bool:
        value = source.objects[0] if source.objects else {}
        if str(value.get("type")) not in _KINDS:
            return False
        keys = ("sessionId", "uuid", "leafUuid", "messageId", "snapshot")
        return any(key in value for key in keys)

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session = _Session()
        file = source.path
        yield from session.read(source)
        beside = file.with_suffix("") / "subagents"
        if beside.is_dir():
            for part in sorted(beside.glob("*.jsonl")):
                yield from session.read(Source(part), subagent=part.stem.removeprefix("agent-"))
        if session.entries or session.input is not None:
            yield session.trace(file), session.notes

    def belongs_to(self, file: Path) -> Path | None:
        if file.parent.name != "subagents":
            return None
        session = file.absolute().parent.parent.with_suffix(".jsonl")
        return session if session.is_file() else None

    def is_not_trace(self, file: Path) -> bool:
        return file.name in _OTHER_FILES


class _Entry(Struct):
    """One step, with its sort key."""

    moment: str
    order: int
    step: Step
    subagent: str | None = None


class _Session:
    def __init__(self) -> None:
        self.entries: list[_Entry] = []
        self.notes: list[Problem] = []
        self.calls: dict[str, _Entry] = {}  # by the id of the tool use
        self.requests: dict[str, _Entry] = {}  # by the id of the request
        self.launched: dict[str, str] = {}  # subagent id → id of the tool use that started it
        self.input: str | None = None
        self.output: str | None = None
        self.facts: dict[str, Any] = {}
        self.order = 0

    def read(self, source: Source, subagent: str | None = None) -> Iterator[Problem]:
        """Read a file; each line that cannot be read is a problem."""
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif isinstance(item[1], dict):
                self._line(item[1], subagent)

    def _line(self, line: dict[str, Any], subagent: str | None) -> None:
        self.order += 1
        if subagent is None and line.get("isSidechain") is True:
            subagent = str(line.get("agentId") or "sidechain")
        for key in ("sessionId", "cwd", "version", "gitBranch"):
            if isinstance(line.get(key), str) and line[key]:
                self.facts.setdefault(key, line[key])
        if line.get("type") == "summary" and isinstance(line.get("summary"), str):
            self.facts["summary"] = line["summary"]
        message = line.get("message")
        if not isinstance(message, dict):
            return
        moment = line["timestamp"] if isinstance(line.get("timestamp"), str) else ""
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list):
            return
        blocks = [block for block in blocks if isinstance(block, dict)]
        if line.get("type") == "assistant":
            self._assistant(line, message, blocks, moment, subagent)
        elif line.get("type") == "user":
            self._user(line, blocks, moment, subagent)

    def _assistant(
        self,
        line: dict[str, Any],
        message: dict[str, Any],
        blocks: list[dict[str, Any]],
        moment: str,
        subagent: str | None,
    ) -> None:
        model = message.get("model") if isinstance(message.get("model"), str) else None
        if model == SYNTHETIC:
            return
        text = "\n".join(block["text"] for block in blocks if _is_text(block))
        self._request(line, message, model, text, moment, subagent)
        for block in blocks:
            if block.get("type") == "thinking" and isinstance(block.get("thinking"), str):
                self._add(Step.reasoning(block["thinking"]), moment, subagent)
            elif (
                block.get("type") == "tool_use"
                and isinstance(block.get("name"), str)
                and block["name"]
            ):
                arguments = block.get("input")
                step = Step.tool_call(
                    block["name"],
                    arguments if isinstance(arguments, dict) else {"input": arguments},
                    status=StepStatus.PENDING,
                )
                entry = self._add(step, moment, subagent)
                if isinstance(block.get("id"), str):
                    self.calls[block["id"]] = entry
        if subagent is None and text.strip():
            # Text before a tool call is a comment; the last text is the answer.
            self.output = text

    def _request(
        self,
        line: dict[str, Any],
        message: dict[str, Any],
        model: str | None,
        text: str,
        moment: str,
        subagent: str | None,
    ) -> None:
        key = line.get("requestId") or message.get("id")
        tokens = _tokens(message.get("usage"))
        known = self.requests.get(key) if isinstance(key, str) else None
        if known is None:
            step = Step.llm_call(model or "unknown", output=text or None, tokens=tokens)
            entry = self._add(step, moment, subagent)
            if isinstance(key, str):
                self.requests[key] = entry
            return
        joined = "\n".join(part for part in (known.step.output, text) if part) or None
        known.step = replace(known.step, output=joined, tokens=_larger(known.step.tokens, tokens))

    def _user(
        self, line: dict[str, Any], blocks: list[dict[str, Any]], moment: str, subagent: str | None
    ) -> None:
        spoken = []
        for block in blocks:
            if block.get("type") == "tool_result":
                self._result(line, block)
            elif _is_text(block):
                spoken.append(block["text"])
        text = "\n".join(spoken).strip()
        if not text or subagent is not None or line.get("isMeta") is True:
            return
        if text.startswith(_PROGRAM_TEXTS):
            return
        if self.input is None:
            self.input = text
            return
        before = {} if self.output is None else {ANSWERED: self.output}
        self._add(Step.human_input(text, metadata=before), moment, None)
        self.output = None

    def _result(self, line: dict[str, Any], block: dict[str, Any]) -> None:
        use = block.get("tool_use_id")
        entry = self.calls.get(use) if isinstance(use, str) else None
        if entry is None:
            return
        details = line.get("toolUseResult")
        if (
            isinstance(details, dict)
            and isinstance(details.get("agentId"), str)
            and isinstance(use, str)
        ):
            self.launched[details["agentId"]] = use
        interrupted = isinstance(details, dict) and details.get("interrupted") is True
        failed = block.get("is_error") is True or interrupted
        entry.step = replace(
            entry.step,
            tool_result=_content(block.get("content")),
            status=StepStatus.FAILURE if failed else StepStatus.SUCCESS,
        )

    def _add(self, step: Step, moment: str, subagent: str | None) -> _Entry:
        entry = _Entry(moment, self.order, step, subagent)
        self.entries.append(entry)
        return entry

    def trace(self, file: Path) -> Trace:
        """The whole session as one trace."""
        self._sort_entries()
        numbers = {id(entry): f"s{index}" for index, entry in enumerate(self.entries, 1)}
        starts = {
            agent: numbers[id(self.calls[use])]
            for agent, use in self.launched.items()
            if use in self.calls
        }
        steps = [
            replace(
                entry.step,
                id=numbers[id(entry)],
                timestamp=_when(entry.moment),
                parent_id=starts.get(entry.subagent or ""),
                metadata={**entry.step.metadata, "subagent": entry.subagent}
                if entry.subagent
                else entry.step.metadata,
            )
            for entry in self.entries
        ]
        metadata = {
            name: self.facts[key]
            for key, name in (
                ("cwd", "cwd"),
                ("version", "claude_code"),
                ("gitBranch", "git_branch"),
            )
            if key in self.facts
        }
        absent = sorted(EVIDENCE - RECORDED)
        metadata[IMPORTED] = {"format": "claude_code", "absent": absent}
        return Trace(
            id=self.facts.get("sessionId") or file.stem,
            name=self.facts.get("summary") or file.stem,
            input=self.input or "",
            output=self.output,
            steps=steps,
            framework="claude-code",
            recorded=RECORDED,
            metadata=metadata,
        )

    def _sort_entries(self) -> None:
        """Sort by time. A step without a time stays after the step before it."""
        last = ""
        for entry in self.entries:
            if entry.moment:
                last = entry.moment
            else:
                entry.moment = last
        self.entries.sort(key=lambda entry: (entry.moment, entry.order))


def _is_text(block: dict[str, Any]) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)


def _content(content: Any) -> Any:
    """The text of a result that has one or several text blocks; anything else unchanged."""
    if isinstance(content, list) and all(
        isinstance(part, dict) and _is_text(part) for part in content
    ):
        return "\n".join(part["text"] for part in content)
    return "" if content is None else content


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else 0


def _tokens(usage: Any) -> TokenUsage | None:
    if not isinstance(usage, dict):
        return None
    read, written = (
        _count(usage.get("cache_read_input_tokens")),
        _count(usage.get("cache_creation_input_tokens")),
    )
    prompt, completion = _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))
    return TokenUsage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=min(LARGEST_COUNT, prompt + completion + read + written),
        cached_tokens=read,
        cache_write_tokens=written,
    )


def _larger(one: TokenUsage | None, other: TokenUsage | None) -> TokenUsage | None:
    """The larger usage: lines of one request repeat it, and it grows while the reply streams."""
    if one is None or other is None:
        return one or other
    return one if one.total_tokens >= other.total_tokens else other


def _when(moment: str) -> datetime | None:
    try:
        return datetime.fromisoformat(moment) if moment else None
    except ValueError:
        return None
