"""Read runs of OpenHands: lists of events, evaluation output, and events of the SDK (version 1).

An action and its observation are one call. The reply of the model is written on the action and
again on its observation, and on every action that it asked for: it is counted by its id. The SDK
reports usage as sums that grow: the difference of two reports is one reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._usage import counted, from_provider
from trialrun.importers._values import name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE, HANDOFFS, RETRIEVALS

# Actions of the agent that are not calls of a tool.
_NOT_CALLS = frozenset(
    {"message", "finish", "think", "system", "recall", "change_agent_state", "null", "reject"}
    | {"condensation", "condensation_request", "loop_recovery", "start", "pause", "resume", "stop"}
)


class OpenhandsImporter(Importer):
    """Reads one run per list of events, or per line of an evaluation's output."""

    name = "openhands"
    title = "runs of OpenHands: event lists, evaluation output, SDK events"
    suffixes = (".json", ".jsonl")
    export = "`Export trajectory`, `output.jsonl` of an evaluation, `events/` of a conversation"
    carries = EVIDENCE - {HANDOFFS, RETRIEVALS}  # delegation and recall are not read
    example = (
        '[{"id": 0, "source": "user", "action": "message", "args": {"content": "Which files?"}}, '
        '{"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}}, '
        '{"id": 2, "source": "agent", "cause": 1, "observation": "run", "content": "a.py", '
        '"extras": {"metadata": {"exit_code": 0}}}, '
        '{"id": 3, "source": "agent", "action": "finish", "args": {"final_thought": "a.py"}}]'
    )

    def recognises(self, source: Source) -> bool:
        if isinstance(source.document, list):
            return any(map(_is_event, source.document))
        if source.path.parent.name == "events" and _is_sdk_event(source.document):
            return True
        first = source.objects[:20]
        is_output = any(isinstance(one.get("history"), list) for one in first)
        return any(map(_is_sdk_event, first)) or (
            is_output and any({"instance_id", "metrics"} <= one.keys() for one in first)
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        if isinstance(source.document, list):
            yield self._trace(source, source.document), []
        elif source.path.parent.name == "events" and _is_sdk_event(source.document):
            yield self._trace(source, _events_beside(source.path)), []
        elif any(map(_is_sdk_event, source.objects)):
            events: list[Any] = []
            for item in source.values():
                if isinstance(item, Problem):
                    yield item
                else:
                    events.append(item[1])
            yield self._trace(source, events), []
        else:
            yield from self._instances(source)

    def _instances(self, source: Source) -> Iterator[Record | Problem]:
        for item in source.values():
            if isinstance(item, Problem):
                yield item
                continue
            number, row = item
            history = row.get("history") if isinstance(row, dict) else None
            if not isinstance(history, list):
                yield Problem("an instance without a history", file=str(source), line=number)
                continue
            # Older output pairs each action with its observation.
            pairs = (one if isinstance(one, list) else [one] for one in history)
            trace = self._trace(source, [event for pair in pairs for event in pair])
            trace.name = name_of(row.get("instance_id")) or trace.name
            if name_of(row.get("error")):
                trace.error = row["error"]
            yield trace, []

    def _trace(self, source: Source, events: Iterable[Any]) -> Any:
        builder = TraceBuilder(self.name)
        _Reader(builder).read(events)
        builder.fields["framework"] = "openhands"
        return builder.trace(self.carries, name=source.path.name.partition(".")[0])

    def belongs_to(self, file: Path) -> Path | None:
        """The events of a conversation are files of one folder; the first is read for all."""
        if file.parent.name != "events" or not file.name.startswith("event-"):
            return None
        first = _first_event(file.parent, file.parent.stat().st_mtime_ns)
        return None if first in (None, file) else first


@lru_cache(maxsize=64)
def _first_event(folder: Path, changed: int) -> Path | None:
    """Asked for every file of a folder, which may have thousands; `changed` is its time stamp."""
    return min(folder.glob("event-*.json"), default=None)


def _events_beside(file: Path) -> list[Any]:
    return [Source(one).document for one in sorted(file.parent.glob("event-*.json"))]


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("source") not in ("user", "agent", "environment"):
        return False
    return isinstance(value.get("action"), str) or isinstance(value.get("observation"), str)


def _is_sdk_event(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return False
    return value["kind"].endswith("Event") and "source" in value


class _Reader:
    def __init__(self, builder: TraceBuilder) -> None:
        self.builder = builder
        self.actions: dict[str, Draft] = {}
        self.spent: dict[str, int] = {}  # the sums of the last report
        self.counted: Draft | None = None  # a reply that was reported, and not seen yet

    def read(self, events: Iterable[Any]) -> None:
        for event in events:
            if not isinstance(event, dict):
                self.builder.dropped("event that is not an object")
            elif _is_sdk_event(event):
                self._sdk(event)
            elif isinstance(event.get("observation"), str):
                self._observation(event)
            elif isinstance(event.get("action"), str):
                self._action(event)

    # Events before version 1

    def _action(self, event: dict[str, Any]) -> None:
        action, source = event["action"], event.get("source")
        arguments = event.get("args")
        arguments = arguments if isinstance(arguments, dict) else {}
        at = event.get("timestamp")
        if action == "message" and source == "user":
            self.builder.prompt(text_of(arguments.get("content")), at)
        if source != "agent":
            return
        self._response(event)
        if action == "message":
            self.builder.say(text_of(arguments.get("content")))
        elif action == "finish":
            thought = name_of(arguments.get("final_thought")) or name_of(event.get("message"))
            self.builder.say(thought or text_of(arguments.get("thought")))
        elif action == "think":
            self.builder.think(text_of(arguments.get("thought")), at)
        elif action not in _NOT_CALLS:
            given = {name: value for name, value in arguments.items() if name != "thought"}
            metadata = event.get("tool_call_metadata")
            metadata = metadata if isinstance(metadata, dict) else {}
            call = self.builder.call(action, given, key=f"action {event.get('id')}", at=at)
            call.note(function=name_of(metadata.get("function_name")))
            self.actions[str(event.get("id"))] = call

    def _response(self, event: dict[str, Any]) -> None:
        """The reply of the model that asked for this action, once."""
        metadata = event.get("tool_call_metadata")
        response = metadata.get("model_response") if isinstance(metadata, dict) else None
        arguments = event.get("args")
        thought = arguments.get("thought") if isinstance(arguments, dict) else None
        at = event.get("timestamp")
        if not isinstance(response, dict):
            if event["action"] not in _NOT_CALLS or event["action"] == "message":
                self.builder.reply(name_of(thought), at=at, is_answer=False)
            return
        key, model = name_of(response.get("id")), name_of(response.get("model"))
        known = key is not None and self.builder.find_reply(key) is not None
        tokens = from_provider(response.get("usage"), model)
        text = None if known else name_of(thought)
        # A thought beside an action is a comment; `message` and `finish` are answers.
        self.builder.reply(text, key=key, model=model, tokens=tokens, at=at, is_answer=False)

    def _observation(self, event: dict[str, Any]) -> None:
        call = self.actions.get(str(event.get("cause")))
        if call is None:
            return
        extras = event.get("extras")
        metadata = extras.get("metadata") if isinstance(extras, dict) else None
        metadata = metadata if isinstance(metadata, dict) else {}
        code = metadata.get("exit_code")
        call.note(cwd=name_of(metadata.get("working_dir")))
        self.builder.result(
            call,
            event.get("content"),
            failed=event["observation"] == "error",
            exit_code=code if code != -1 else None,  # -1: the command still runs
            at=event.get("timestamp"),
        )

    # Events of the SDK

    def _sdk(self, event: dict[str, Any]) -> None:
        kind, at = event["kind"], event.get("timestamp")
        if kind == "ActionEvent":
            self._sdk_action(event, at)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._sdk_observation(event, at)
        elif kind == "MessageEvent":
            message = event.get("llm_message")
            text = text_of(message.get("content")) if isinstance(message, dict) else ""
            if event.get("source") == "user":
                self.builder.prompt(text, at)
            else:
                self._reply(event, text, at, is_answer=True)
        elif event.get("key") == "stats":
            self._stats(event.get("value"), at)

    def _reply(self, event: dict[str, Any], text: str, at: Any, is_answer: bool) -> None:
        key = name_of(event.get("llm_response_id"))
        if self.counted is not None and (key is None or self.builder.find_reply(key) is None):
            self.builder.rename_reply(self.counted, key)
        self.counted = None
        self.builder.reply(text, key=key, at=at, is_answer=is_answer)

    def _sdk_action(self, event: dict[str, Any], at: Any) -> None:
        self.builder.think(name_of(event.get("reasoning_content")), at)
        self._reply(event, text_of(event.get("thought")), at, is_answer=False)
        call = event.get("tool_call")
        call = call if isinstance(call, dict) else {}
        name = name_of(event.get("tool_name")) or name_of(call.get("name")) or ""
        arguments = call.get("arguments", event.get("action"))
        key = name_of(event.get("tool_call_id"))
        self.builder.call(name, arguments, key=key, at=at)
        action = event.get("action")
        if isinstance(action, dict) and action.get("kind") == "FinishAction":
            self.builder.say(text_of(action.get("message")))

    def _sdk_observation(self, event: dict[str, Any], at: Any) -> None:
        found = event.get("observation")
        found = found if isinstance(found, dict) else {}
        code = found.get("exit_code")
        error = name_of(event.get("error"))
        self.builder.result(
            name_of(event.get("tool_call_id")),
            text_of(found.get("content")) or error,
            failed=found.get("is_error") is True,
            error=error,
            exit_code=code if code != -1 else None,
            at=at,
        )

    def _stats(self, value: Any, at: Any) -> None:
        """A report of sums: what was added since the last one is the usage of one reply."""
        metrics = value.get("usage_to_metrics") if isinstance(value, dict) else None
        for usage_id, one in metrics.items() if isinstance(metrics, dict) else ():
            usage = one.get("accumulated_token_usage") if isinstance(one, dict) else None
            if not isinstance(usage, dict):
                continue
            model = name_of(one.get("model_name"))
            added = self._added(usage_id, usage)
            tokens = counted(
                model,
                input=added["prompt_tokens"],
                output=added["completion_tokens"],
                cached=added["cache_read_tokens"],
                written=added["cache_write_tokens"],
                reasoning=added["reasoning_tokens"],
            )
            if tokens is not None and tokens.total_tokens:
                self.counted = self.builder.reply(model=model, tokens=tokens, at=at)

    def _added(self, usage_id: str, usage: dict[str, Any]) -> dict[str, int]:
        added = {}
        for name in _COUNTS:
            now = usage.get(name)
            now = now if isinstance(now, int) else 0
            added[name] = max(0, now - self.spent.get(f"{usage_id} {name}", 0))
            self.spent[f"{usage_id} {name}"] = now
        return added


_COUNTS = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
