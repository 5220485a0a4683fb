"""Read sessions of Claude Code: one JSON object per line, subagents in a folder beside the file.

What subagents did is evidence of the run, so their steps are part of it, by time; within a file,
its order decides. What the user went back from is not part of the run. Comment lines (`// …`) are
ignored. A line that cannot be read is reported, and the others are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trialrun.errors import Problem, TraceError
from trialrun.importers._claude import Reader
from trialrun.importers._claude_rows import Line, Progress, line_of
from trialrun.importers._claude_tree import Subagents, drop_rewound, in_order
from trialrun.importers._claude_usage import share_out, sums_of
from trialrun.importers._source import COMPRESSED, glued, plain_suffix
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE

# Kinds of rows without a message that have the id of their session.
_HEADS = frozenset(
    {
        "agent-name",
        "agent-setting",
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "bridge-session",
        "cost-state",
        "custom-title",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "queue-operation",
        "relocated",
        "tools-used",
        "worktree-state",
    }
)
_ROWS = frozenset({"user", "assistant", "system", "progress", "attachment"})

# Other files of Claude Code in the folders of its sessions.
_OTHER_FILES = frozenset({"sessions-index.json", "settings.json", "settings.local.json"})

_FACTS = {"cwd": "cwd", "version": "claude_code", "branch": "git_branch"}


class ClaudeCodeImporter(Importer):
    """Reads a session file, with the subagents in the folder beside it."""

    name = "claude_code"
    title = "sessions of Claude Code, with their subagents"
    suffixes = (".jsonl", ".ndjson")
    export = "`~/.claude/projects/…/SESSION.jsonl`, as Claude Code writes it"
    carries = EVIDENCE
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
        return any(map(_is_row, source.objects))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session = _Session()
        yield from session.read(source)
        for part in session.files_beside(source.path):
            yield from session.read_subagent(part)
        builder = session.built()
        if not builder.is_empty:
            name = session.title or _stem(source.path)
            builder.fields.setdefault("id", _stem(source.path))
            yield builder.trace(self.carries, name=name), []

    def belongs_to(self, file: Path) -> Path | None:
        above = [folder for folder in file.absolute().parents if folder.name == "subagents"]
        if above:
            return _with_ending(above[0].parent)
        if not file.name.startswith("agent-") or plain_suffix(file) not in self.suffixes:
            return None
        first = next((row for row in Source(file).objects if row.get("isSidechain") is True), {})
        session = first.get("sessionId")
        if not isinstance(session, str) or not Path(session).name or "\0" in session:
            return None
        return _with_ending(file.with_name(Path(session).name))

    def is_not_trace(self, file: Path) -> bool:
        return file.name in _OTHER_FILES


def _is_row(value: dict[str, Any]) -> bool:
    """Whether it is a row of a session file."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _ROWS:
        is_streamed = "session_id" in value and "sessionId" not in value
        return not is_streamed and ("sessionId" in value or "uuid" in value)
    if kind in _HEADS:
        return isinstance(value.get("sessionId"), str)
    if kind == "summary":
        return "leafUuid" in value
    return kind.startswith("file-history-") and "messageId" in value


def _stem(file: Path) -> str:
    """The name without its endings: `a` for `a.jsonl.gz`."""
    return Path(file.stem).stem if file.suffix.lower() in COMPRESSED else file.stem


def _with_ending(file: Path) -> Path | None:
    """The file of this name that exists, packed or not."""
    found = (file.with_name(f"{file.name}.jsonl{packed}") for packed in ("", *COMPRESSED))
    return next((path for path in found if path.is_file()), None)


class _Session:
    """The rows of a session and of its subagents."""

    def __init__(self) -> None:
        self.main: list[Line] = []
        self.parts: dict[str, list[Line]] = {}  # by the id of the subagent
        self.agents = Subagents()
        self.title: str | None = None
        self.costs: Line | None = None
        self.facts: dict[str, str] = {}
        self.id: str | None = None

    def read(self, source: Source) -> Iterator[Problem]:
        """Read the session's own file; each line that cannot be read is a problem."""
        for line in _lines(source):
            if isinstance(line, Problem):
                yield line
                continue
            self._note(line)
            if line.type in _ROWS:
                self.main.append(line)
                self.agents.note(line)
        if not any(line.type in ("user", "assistant") and not line.sidechain for line in self.main):
            for line in self.main:  # the file of a subagent, by itself
                line.sidechain = None

    def read_subagent(self, file: Path) -> Iterator[Problem]:
        """Read the file of a subagent."""
        agent = _stem(file).removeprefix("agent-")
        about = Source(file.with_name(f"{_stem(file)}.meta.json"))
        if about.path.is_file() and isinstance(about.document, dict):
            self.agents.note_start(agent, about.document)
        rows: list[Line] = []
        for line in _lines(Source(file)):
            if isinstance(line, Problem):
                yield line
            elif line.type in ("user", "assistant"):
                line.sidechain = True
                line.agent = agent
                self.agents.note(line)
                rows.append(line)
        self.parts[agent] = rows

    def files_beside(self, file: Path) -> list[Path]:
        """The files of its subagents."""
        folder = file.with_name(_stem(file)) / "subagents"
        if folder.is_dir():
            found = sorted(path for path in folder.rglob("agent-*") if path.is_file())
            return [path for path in found if plain_suffix(path) in ClaudeCodeImporter.suffixes]
        # Until version 2.0 they were in the folder of the session itself.
        names = [file.with_name(f"agent-{agent}") for agent in self.agents.started]
        return [path for name in names if (path := _with_ending(name)) and path != file]

    def built(self) -> TraceBuilder:
        """A builder with all that was read."""
        builder = TraceBuilder(ClaudeCodeImporter.name)
        builder.facts.update(self.facts)
        builder.fields.update(framework="claude-code", id=self.id)
        reader = Reader(builder)
        alive, gone = drop_rewound(self.main, builder)
        parts = []
        for agent, rows in self.parts.items():
            if self.agents.started.get(agent) in gone:
                builder.dropped("rewound subagent")
            else:
                parts.append(rows)
        seen: set[str] = set()
        for line in in_order(alive, parts):
            row = self.agents.row_in(line, line.data) if isinstance(line.data, Progress) else line
            if row.uuid and self.parts:
                if row.uuid in seen:
                    builder.repeated("row of a subagent")
                    continue
                seen.add(row.uuid)
            reader.read(row, self.agents.of(row))
        reader.finish()
        if reader.stopped is not None:
            builder.cut_off(reader.stopped)
        if self.costs is not None and self.costs.unknown_cost is not True:
            share_out(builder, sums_of(self.costs.model_usage), with_tokens=False)
        return builder

    def _note(self, line: Line) -> None:
        """What the row says of the session as a whole."""
        if self.id is None and isinstance(line.session, str) and line.session:
            self.id = line.session
        if len(self.facts) < len(_FACTS):
            for field, name in _FACTS.items():
                value = getattr(line, field)
                if name not in self.facts and isinstance(value, str) and value:
                    self.facts[name] = value
        if line.type in ("summary", "custom-title", "ai-title"):
            titles = (line.summary, line.custom_title, line.ai_title)
            self.title = next((text for text in titles if isinstance(text, str) and text), None)
        elif line.type == "cost-state":
            self.costs = line


def _lines(source: Source) -> Iterator[Line | Problem]:
    for number, data in source.lines():
        if isinstance(data, Problem):
            yield data
        elif not data.lstrip().startswith(b"//"):
            try:
                found = [line_of(data)]
            except TraceError as error:
                found = [line_of(part) for part in glued(data)]
                if not found:
                    yield Problem(str(error), file=str(source), line=number)
            yield from (line for line in found if line is not None)
