"""Read ATIF trajectories, to version 1.8, as Harbor and other harnesses write them.

A step of the agent is one model call, with its tool calls and what they returned. A long run goes
on in a further file (`continued_trajectory_ref`), which begins with copies of earlier steps;
subagents are embedded or have their own files. Prompt tokens include the cached ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._usage import counted
from trialrun.importers._values import name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import (
    EVIDENCE,
    HANDOFFS,
    RETRIEVALS,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
)
from trialrun.model.trace import TokenUsage

_MOST_FILES = 100
"""Files that are read as one run."""


class AtifImporter(Importer):
    """Reads a trajectory with the files that continue it and its subagents."""

    name = "atif"
    title = "ATIF trajectories to version 1.8, continued files and subagents included"
    suffixes = (".json",)
    export = "`trajectory.json` of a Harbor job"
    carries = EVIDENCE - {HANDOFFS, RETRIEVALS}
    example = (
        '{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a"}, '
        '"steps": [{"step_id": 1, "source": "user", "message": "2 + 2?"}, '
        '{"step_id": 2, "source": "agent", "model_name": "m", "message": "4", '
        '"tool_calls": [{"tool_call_id": "c", "function_name": "add", "arguments": {"a": 2}}], '
        '"observation": {"results": [{"source_call_id": "c", "content": "4"}]}, '
        '"metrics": {"prompt_tokens": 5, "completion_tokens": 1}}]}'
    )

    def recognises(self, source: Source) -> bool:
        if not isinstance(source.document, dict):
            return False
        version = source.document.get("schema_version")
        return isinstance(version, str) and version.startswith("ATIF")

    def records(self, source: Source) -> Iterator[Record | Problem]:
        trajectory = source.document
        builder = TraceBuilder(self.name)
        reader = _Reader(builder, source.path)
        reader.trajectory(trajectory)
        reader.continued(trajectory)
        if builder.is_empty:
            yield Problem("a trajectory without steps", file=str(source))
            return
        agent = trajectory.get("agent")
        agent = agent if isinstance(agent, dict) else {}
        builder.fields |= {
            "id": name_of(trajectory.get("trajectory_id")) or name_of(trajectory.get("session_id")),
            "agent_name": name_of(agent.get("name")),
            "framework": name_of(agent.get("name")),
        }
        carries = self.carries
        if reader.observed and not reader.has_calls:
            carries -= _OF_CALLS
        name = source.path.name.removesuffix(".json")
        yield builder.trace(carries, name=name, agent_version=name_of(agent.get("version"))), []

    def belongs_to(self, file: Path) -> Path | None:
        """A continuation is read with the file that names it."""
        stem, mark, _ = file.name.rpartition(".cont-")
        first = file.with_name(f"{stem}.json")
        if not mark or not first.is_file():
            return None
        named = Source(first).document
        is_named = isinstance(named, dict) and named.get("continued_trajectory_ref") == file.name
        return first if is_named else None


_OF_CALLS = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
"""Not recorded where observations show that something ran, and no step has a call: some agents
write their commands into the text of the message."""


class _Reader:
    def __init__(self, builder: TraceBuilder, file: Path) -> None:
        self.builder = builder
        self.folder = file.parent.resolve()
        # Files refer to each other, and to themselves: each is read once.
        self.opened = {self.folder / file.name, file.resolve()}
        self.has_calls = self.observed = False

    def trajectory(
        self, given: dict[str, Any], parent: str | None = None, skip: bool = False
    ) -> None:
        """Read the steps; those copied from an earlier file are left out if `skip`."""
        agent = given.get("agent")
        model = name_of(agent.get("model_name")) if isinstance(agent, dict) else None
        name = name_of(agent.get("name")) if isinstance(agent, dict) and parent else None
        steps = given.get("steps")
        for step in steps if isinstance(steps, list) else ():
            if not isinstance(step, dict):
                self.builder.dropped("step that is not an object")
            elif skip and step.get("is_copied_context") is True:
                self.builder.repeated("step copied into a continued file")
            elif step.get("source") == "user" and parent is None:
                self.builder.prompt(text_of(step.get("message")), step.get("timestamp"))
            elif step.get("source") == "agent":
                self._agent(step, model, parent, name)
            else:
                self._observation(step, None)
        nested = given.get("subagent_trajectories")
        for one in nested if isinstance(nested, list) else ():
            if isinstance(one, dict):
                self.trajectory(one, parent=self._starter(one) or "subagent")

    def _starter(self, subagent: dict[str, Any]) -> str | None:
        """The key of the call whose result refers to this subagent."""
        ids = {name_of(subagent.get("trajectory_id")), name_of(subagent.get("session_id"))} - {None}
        for draft in self.builder.drafts:
            if ids & set(draft.fields.get("metadata", {}).get("subagents", ())):
                return draft.key
        return None

    def _agent(
        self, step: dict[str, Any], model: str | None, parent: str | None, agent: str | None
    ) -> None:
        at = step.get("timestamp")
        self.builder.think(name_of(step.get("reasoning_content")), at, parent)
        calls_of_models = step.get("llm_call_count")
        if calls_of_models != 0:
            self._reply(step, model, parent, agent)
        calls = step.get("tool_calls")
        drafts: dict[str, Draft] = {}
        for call in calls if isinstance(calls, list) else ():
            if not isinstance(call, dict):
                continue
            self.has_calls = True
            key = name_of(call.get("tool_call_id"))
            name = name_of(call.get("function_name")) or ""
            known = None if key is None else self.builder.find_call(key)
            # Ids are unique within a step only, in some files; those of steps, within a file.
            key = f"{len(self.builder.drafts)}:{key}" if known is not None else key
            draft = self.builder.call(name, call.get("arguments"), key=key, at=at, agent=agent)
            drafts[name_of(call.get("tool_call_id")) or name] = draft
        self._observation(step, drafts)

    def _reply(
        self, step: dict[str, Any], model: str | None, parent: str | None, agent: str | None
    ) -> None:
        metrics = step.get("metrics")
        metrics = metrics if isinstance(metrics, dict) else {}
        model = name_of(step.get("model_name")) or model
        extra = metrics.get("extra")
        extra = extra if isinstance(extra, dict) else {}
        tokens = counted(
            model,
            input=metrics.get("prompt_tokens"),
            output=metrics.get("completion_tokens"),
            cached=metrics.get("cached_tokens"),
            written=extra.get("cache_creation_input_tokens"),
            reasoning=extra.get("reasoning_tokens"),
        )
        is_known = tokens is not None and tokens.total_tokens > 0
        if step.get("is_copied_context") is True and tokens is None:
            tokens, is_known = TokenUsage(), True  # they were spent in the file before
        self.builder.reply(
            text_of(step.get("message")),
            model=model,
            at=step.get("timestamp"),
            tokens=tokens if is_known else None,  # 0 tokens are withheld ones
            cost=metrics.get("cost_usd") if is_known else None,
            parent=parent,
            agent=agent,
            is_answer=parent is None,
        )

    def _observation(self, step: dict[str, Any], calls: dict[str, Draft] | None) -> None:
        observation = step.get("observation")
        results = observation.get("results") if isinstance(observation, dict) else None
        for result in results if isinstance(results, list) else ():
            if not isinstance(result, dict):
                continue
            self.observed = self.observed or result.get("content") is not None
            call = (calls or {}).get(name_of(result.get("source_call_id")) or "")
            if call is None and calls is not None and len(calls) == 1:
                call = next(iter(calls.values()))
            if call is not None:
                content = result.get("content")
                value = text_of(content) if isinstance(content, list) else content
                self.builder.result(call, value)
            elif result.get("content") is not None:
                self.builder.dropped("observation without a call")
            self._subagents(result, call)

    def _subagents(self, result: dict[str, Any], call: Draft | None) -> None:
        """Read the trajectories that a result refers to, as far as their files are there."""
        references = result.get("subagent_trajectory_ref")
        references = [references] if isinstance(references, dict) else references
        for reference in references if isinstance(references, list) else ():
            if not isinstance(reference, dict):
                continue
            ids = [name_of(reference.get(name)) for name in ("trajectory_id", "session_id")]
            if call is not None:
                known = call.fields.get("metadata", {}).get("subagents", [])
                call.note(subagents=[*known, *(one for one in ids if one)])
            path = name_of(reference.get("trajectory_path"))
            if path is None:
                continue
            file = self._beside(path)
            if file in self.opened:
                self.builder.repeated("subagent's file")
                continue
            document = self._read(file)
            if document is None:
                self.builder.dropped("subagent whose file is absent")
            else:
                self.trajectory(document, parent=call.key if call and call.key else "subagent")

    def continued(self, trajectory: dict[str, Any]) -> None:
        """Read the files that continue this one, as far as they are there."""
        while name := name_of(trajectory.get("continued_trajectory_ref")):
            file = self._beside(name)
            if file in self.opened:
                return
            document = self._read(file)
            if document is None:
                self.builder.facts["continued_in"] = name
                self.builder.dropped("continued file that is absent")
                return
            self.trajectory(document, skip=True)
            trajectory = document

    def _beside(self, name: str) -> Path | None:
        """The file of this name in this folder; none outside of it, nor by a symbolic link."""
        try:
            place = (self.folder / name).resolve()
            return place if place.parent == self.folder and place.is_file() else None
        except (OSError, ValueError, RuntimeError):  # not a name of a file
            return None

    def _read(self, file: Path | None) -> dict[str, Any] | None:
        if file is None or len(self.opened) >= _MOST_FILES:
            return None
        self.opened.add(file)
        document = Source(file).document
        return document if isinstance(document, dict) else None
