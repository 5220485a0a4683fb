"""The tree of a session's rows: what the user went back from, and which rows are subagents'."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from trialrun.importers._builder import TraceBuilder
from trialrun.importers._claude import Agent
from trialrun.importers._claude_rows import (
    INTERRUPTED,
    Details,
    Line,
    Progress,
    blocks_of,
    is_result,
    own_text,
    prompt_of,
    request_key,
)
from trialrun.importers._values import moment

_FIRST = datetime.min.replace(tzinfo=UTC)


def in_order(main: list[Line], parts: list[list[Line]]) -> list[Line]:
    """The rows of several files by time; rows of one file stay in its order.

    A clock that was set back does not move a row before an earlier row of its file.
    """
    if not parts:
        return main
    timed: list[tuple[datetime, Line]] = []
    for rows in (main, *parts):
        latest = _FIRST
        for line in rows:
            latest = max(latest, moment(line.timestamp) or latest)
            timed.append((latest, line))
    timed.sort(key=lambda item: item[0])
    return [line for _, line in timed]


def drop_rewound(lines: list[Line], builder: TraceBuilder) -> tuple[list[Line], set[str]]:
    """The rows without the branches that the user went back from, and the calls in these.

    What is left out is reported.
    """
    gone = _Tree(lines).rewound()
    calls: set[str] = set()
    if not gone:
        return lines, calls
    requests = set()
    kept = []
    for line in lines:
        if line.uuid not in gone:
            kept.append(line)
        elif line.type == "assistant":
            requests.add(request_key(line))
            for block in blocks_of(line):
                if block.get("type") == "tool_use":
                    builder.dropped("rewound tool call")
                    calls.add(str(block.get("id")))
        elif line.type == "user" and prompt_of(line) and not _has_result(line):
            builder.dropped("rewound prompt")
    for _ in requests:
        builder.dropped("rewound model call")
    return kept, calls


class _Tree:
    """The rows of the main conversation by their ids."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.rows = {line.uuid: line for line in lines if line.uuid}
        self._places: dict[str, str] = {}  # what `_place` has found
        self.spoken = [
            line
            for line in self.rows.values()
            if line.type in ("user", "assistant") and line.sidechain is not True
        ]

    def rewound(self) -> set[str]:
        """The ids of all rows below a prompt that has another one in its place.

        Parallel calls and the program's own rows branch as well, so only prompts count. The branch
        that the session ends in is the one that was kept.
        """
        rivals = defaultdict(list)
        for line in self.spoken:
            if line.type == "user" and (place := self._place(line)) and not _has_result(line):
                rivals[place].append(line)
        if all(len(prompts) == 1 for prompts in rivals.values()):
            return set()
        kept = self._kept()
        gone = {
            prompt.uuid
            for prompts in rivals.values()
            if len(prompts) > 1 and any(prompt.uuid in kept for prompt in prompts)
            for prompt in prompts
            if prompt.uuid not in kept
        }
        return self._below(gone)

    def _parent(self, line: Line) -> Line | None:
        for key in (line.parent, line.logical_parent):
            if isinstance(key, str) and key in self.rows:
                return self.rows[key]
        return None

    def _place(self, line: Line) -> str | None:
        """The id of the row that a prompt answers, past rows that are not part of the talk."""
        found = self._parent(line)
        passed: set[str] = set()
        while found is not None and found.type not in ("user", "assistant"):
            passed.add(found.uuid)
            above = self._parent(found)
            # Many prompts can be below one long chain of rows: it is followed once.
            if found.uuid in self._places or above is None or above.uuid in passed:
                break
            found = above
        if found is None:
            return None
        place = self._places.get(found.uuid, str(found.uuid))
        self._places |= dict.fromkeys(passed, place)
        return place

    def _kept(self) -> set[str]:
        """The ids of the last row and of all above it."""
        kept: set[str] = set()
        found = self._last()
        while found is not None and found.uuid not in kept:
            kept.add(found.uuid)
            found = self._parent(found)
        return kept

    def _last(self) -> Line | None:
        """The last row, without a prompt that was interrupted before anything came of it."""
        skipped = set()
        for line in reversed(self.spoken):
            if line.type == "user" and own_text(line).startswith(INTERRUPTED):
                above = self._parent(line)
                if above is not None and above.type == "user" and not _has_result(above):
                    skipped |= {line.uuid, above.uuid}
        return next((line for line in reversed(self.spoken) if line.uuid not in skipped), None)

    def _below(self, gone: set[str]) -> set[str]:
        """The ids with those of all rows below: a row comes after its parent in the file."""
        for key, line in self.rows.items():
            if line.parent in gone:
                gone.add(key)
        return gone


def _has_result(line: Line) -> bool:
    return any(map(is_result, blocks_of(line)))


class Subagents:
    """Which subagent a row belongs to, and which call started it."""

    def __init__(self) -> None:
        self.started: dict[str, str] = {}  # the id of a subagent → the call that started it
        self.names: dict[str, str] = {}
        self._prompts: dict[str, str] = {}  # what a call gave to a subagent → the call
        self._chains: dict[str, str] = {}  # a row of a subagent without an id → its first row
        self._known: dict[str, Agent] = {}

    def note(self, line: Line) -> None:
        """What the row says of subagents."""
        details, progress = line.details, line.data
        if isinstance(details, Details) and isinstance(details.agent, str):
            uses = [block.get("tool_use_id") for block in blocks_of(line) if is_result(block)]
            if uses and isinstance(uses[0], str):
                self.started[details.agent] = uses[0]
            if isinstance(details.agent_type, str):
                self.names[details.agent] = details.agent_type
        elif isinstance(progress, Progress) and isinstance(line.progress_of, str):
            self._started_by(progress.agent, line.progress_of)
        if line.type == "assistant":
            self._note_calls(line)

    def note_start(self, agent: str, about: dict[str, Any]) -> None:
        """What the file beside that of a subagent says: `{"agentType": …, "toolUseId": …}`."""
        if isinstance(about.get("toolUseId"), str):
            self.started.setdefault(agent, about["toolUseId"])
        if isinstance(about.get("agentType"), str):
            self.names.setdefault(agent, about["agentType"])

    def _started_by(self, agent: Any, call: str) -> None:
        if isinstance(agent, str):
            self.started.setdefault(agent, call)

    def _note_calls(self, line: Line) -> None:
        for block in blocks_of(line):
            given = block.get("input") if block.get("name") in ("Task", "Agent") else None
            key = block.get("id")
            if isinstance(given, dict) and isinstance(key, str):
                if isinstance(given.get("prompt"), str):
                    self._prompts[given["prompt"].strip()] = key
                if isinstance(given.get("subagent_type"), str):
                    self.names.setdefault(key, given["subagent_type"])

    def row_in(self, line: Line, progress: Progress) -> Line:
        """The row of a subagent inside a report on the call that runs it."""
        row = progress.message
        if not isinstance(row, Line):
            return line
        row.sidechain = True
        row.agent = progress.agent
        row.cwd = row.cwd or line.cwd
        row.timestamp = row.timestamp or line.timestamp
        return row

    def of(self, line: Line) -> Agent | None:
        """The subagent of a row; None for the agent itself."""
        if line.sidechain is not True:
            return None
        key = line.agent if isinstance(line.agent, str) and line.agent else self._chain(line)
        agent = self._known.get(key)
        if agent is None:
            call = self.started.get(key)
            name = self.names.get(key) or self.names.get(call or "")
            agent = self._known[key] = Agent(key, name or key, call)
        return agent

    def _chain(self, line: Line) -> str:
        """The id of a chain of rows that have none: its first row, which has the prompt."""
        first = self._chains.get(line.parent or "")
        if first is None:
            first = line.uuid or "sidechain"
            call = self._prompts.get(own_text(line))
            if call is not None:
                self.started[first] = call
        if line.uuid:
            self._chains[line.uuid] = first
        return first
