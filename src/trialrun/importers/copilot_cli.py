"""Read sessions of GitHub Copilot CLI: events, one a line, or (2025) one object with a timeline.

A call is read where it is executed: some are in no message. Each reply says how many tokens it
wrote; what it read is only in the sums of `session.shutdown`, so that without it tokens are not
recorded. Costs are premium requests, not dollars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._claude_usage import NOT_LISTED
from trialrun.importers._shell_text import copilot_exit_code
from trialrun.importers._usage import count, counted
from trialrun.importers._values import as_dict, dicts_in, moment, name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import COSTS, EVIDENCE, HANDOFFS, LLM_CALLS, RETRIEVALS, TOKENS

_EVENTS = ("session.", "user.message", "assistant.message", "assistant.turn_start")
_TIMELINE = frozenset({"sessionId", "timeline"})


class CopilotCliImporter(Importer):
    """Reads one session, with its subagents."""

    name = "copilot_cli"
    title = "sessions of GitHub Copilot CLI, old (a timeline) and new (events)"
    suffixes = (".jsonl", ".json")
    export = "`~/.copilot/session-state/SESSION/events.jsonl`, as Copilot CLI writes it"
    carries = EVIDENCE - {COSTS, HANDOFFS, RETRIEVALS}
    one_run_a_file = True
    when_empty = "a session of Copilot CLI without a message"
    example = (
        '{"type": "session.start", "timestamp": "2026-01-02T03:04:05Z", "data": {"sessionId": "s", '
        '"copilotVersion": "1.0.34", "context": {"cwd": "/app"}}}\n'
        '{"type": "user.message", "timestamp": "2026-01-02T03:04:05Z", '
        '"data": {"content": "2 + 2?"}}\n'
        '{"type": "assistant.message", "timestamp": "2026-01-02T03:04:06Z", "data": '
        '{"messageId": "1", "content": "4", "model": "m", "outputTokens": 2, "toolRequests": '
        '[{"toolCallId": "c", "name": "add", "arguments": {"a": 2, "b": 2}}]}}\n'
        '{"type": "tool.execution_start", "timestamp": "2026-01-02T03:04:06Z", "data": '
        '{"toolCallId": "c", "toolName": "add", "arguments": {"a": 2, "b": 2}}}\n'
        '{"type": "tool.execution_complete", "timestamp": "2026-01-02T03:04:07Z", "data": '
        '{"toolCallId": "c", "success": true, "result": {"content": "4"}}}\n'
        '{"type": "session.shutdown", "timestamp": "2026-01-02T03:04:08Z", "data": '
        '{"modelMetrics": {"m": {"usage": '
        '{"inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 4}}}}}\n'
    )

    def recognises(self, source: Source) -> bool:
        if source.keys >= _TIMELINE:
            return isinstance(source.document["timeline"], list)
        return any(
            str(event.get("type")).startswith(_EVENTS) and isinstance(event.get("data"), dict)
            for event in source.objects[:2]
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        if source.keys >= _TIMELINE:
            builder, carries = _timeline(source.document), self.carries - {LLM_CALLS, TOKENS}
        else:
            session, carries = _Session(), self.carries
            for item in source.values():
                if isinstance(item, Problem):
                    yield item
                elif isinstance(item[1], dict):
                    session.event(item[1])
            builder = session.builder
        if not builder.is_empty:
            yield builder.trace(carries), []


class _Session:
    """The events that have been read so far."""

    def __init__(self) -> None:
        self.builder = TraceBuilder("copilot_cli")
        self.builder.fields["framework"] = "copilot-cli"
        self.model: str | None = None
        self.cwd: str | None = None
        self.agents: dict[str, str] = {}  # the call that started a subagent → its name
        self.asked_by: dict[str, str] = {}  # call → message that asked for it
        self.summed: set[str] = set()  # models whose sum since the start is known
        self.uncounted: list[tuple[str | None, Draft, int]] = []  # replies without a sum yet

    def event(self, event: dict[str, Any]) -> None:
        """Read one event."""
        data, at = event.get("data"), event.get("timestamp")
        handler = _HANDLERS.get(str(event.get("type")))
        if handler is not None and isinstance(data, dict):
            if "agentId" in event:
                data = {"parentToolCallId": event["agentId"], **data}
            handler(self, data, at)

    def _start(self, data: dict[str, Any], at: Any) -> None:
        context = as_dict(data.get("context"))
        self.cwd = name_of(context.get("cwd")) or self.cwd
        self.model = name_of(data.get("selectedModel")) or self.model
        if name_of(data.get("sessionId")):
            self.builder.fields["id"] = data["sessionId"]
        for name, value in (("cwd", self.cwd), ("copilot_cli", data.get("copilotVersion"))):
            if name_of(value):
                self.builder.facts.setdefault(name, value)
        self.uncounted.clear()
        self.summed.clear()

    def _model_change(self, data: dict[str, Any], at: Any) -> None:
        self.model = name_of(data.get("newModel")) or self.model

    def _user(self, data: dict[str, Any], at: Any) -> None:
        """A prompt, unless the program or another agent wrote it."""
        if data.get("source") in (None, "user") and "parentToolCallId" not in data:
            self.builder.prompt(name_of(data.get("content")) or "", at)

    def _assistant(self, data: dict[str, Any], at: Any) -> None:
        parent = name_of(data.get("parentToolCallId"))
        model, key = name_of(data.get("model")) or self.model, name_of(data.get("messageId"))
        draft = self.builder.reply(
            name_of(data.get("content")),
            model=model,
            key=key,
            at=at,
            parent=parent,
            agent=self.agents.get(parent or ""),
            is_answer=parent is None,
        )
        self.builder.think(name_of(data.get("reasoningText")), at, parent)
        written = count(data.get("outputTokens"))
        draft.note(output_tokens=written)
        self.uncounted.append((model, draft, written or 0))
        for request in dicts_in(data.get("toolRequests")):
            if key and name_of(request.get("toolCallId")):
                self.asked_by[request["toolCallId"]] = key

    def _call(self, data: dict[str, Any], at: Any) -> None:
        key, subagent = name_of(data.get("toolCallId")), name_of(data.get("parentToolCallId"))
        draft = self.builder.call(
            name_of(data.get("toolName")) or "",
            data.get("arguments"),
            key=key,
            at=at,
            parent=self.asked_by.get(key or "") or subagent,
            agent=self.agents.get(subagent or ""),
        )
        draft.note(cwd=self.cwd, server=name_of(data.get("mcpServerName")))

    def _result(self, data: dict[str, Any], at: Any) -> None:
        result, error = as_dict(data.get("result")), as_dict(data.get("error"))
        metrics = as_dict(as_dict(data.get("toolTelemetry")).get("metrics"))
        value = result.get("content", error.get("message"))
        code = metrics.get("exit_code", copilot_exit_code(value))
        failed = data.get("success") is False
        key = name_of(data.get("toolCallId"))
        self.builder.result(key, value, failed=failed, exit_code=code, at=at)

    def _subagent(self, data: dict[str, Any], at: Any) -> None:
        key, name = name_of(data.get("toolCallId")), name_of(data.get("agentName"))
        if key and name:
            self.agents[key] = name

    def _abort(self, data: dict[str, Any], at: Any) -> None:
        self.builder.interrupted("the user aborted the turn")

    def _shutdown(self, data: dict[str, Any], at: Any) -> None:
        """The sums for each model since the start: what was read is put on its last reply."""
        self.builder.fields["completed_at"] = moment(at)
        for model, used in as_dict(data.get("modelMetrics")).items():
            usage = as_dict(as_dict(used).get("usage"))
            replies = [(draft, wrote) for name, draft, wrote in self.uncounted if name == model]
            if count(usage.get("inputTokens")) is None:
                continue
            if not replies:
                if model in self.summed or not count(usage.get("inputTokens")):
                    continue
                # Requests without a message were made as well, such as for a title.
                last = self.builder.reply(model=model, is_answer=False)
                last.note(**{NOT_LISTED: True})
                replies = [(last, 0)]
            self.summed.add(model)
            *others, (last, _) = replies
            rest = (count(usage.get("outputTokens")) or 0) - sum(wrote for _, wrote in others)
            for draft, wrote in others:
                draft.set(tokens=counted(model, input=0, output=wrote))
            last.set(
                tokens=counted(
                    model,
                    input=usage.get("inputTokens"),
                    output=max(0, rest),
                    cached=usage.get("cacheReadTokens"),
                    written=usage.get("cacheWriteTokens"),
                )
            )
            last.note(reasoning_tokens=count(usage.get("reasoningTokens")))
            self.builder.facts["usage"] = "a sum for each model, on its last reply"
        self.uncounted.clear()


_Handler = Callable[[_Session, dict[str, Any], Any], None]

_HANDLERS: dict[str, _Handler] = {
    "session.start": _Session._start,
    "session.resume": _Session._start,
    "session.model_change": _Session._model_change,
    "session.shutdown": _Session._shutdown,
    "user.message": _Session._user,
    "assistant.message": _Session._assistant,
    "tool.execution_start": _Session._call,
    "tool.execution_complete": _Session._result,
    "subagent.started": _Session._subagent,
    "abort": _Session._abort,
}


def _timeline(document: dict[str, Any]) -> TraceBuilder:
    """The old form: what was shown. How often the model was called is not recorded."""
    builder = TraceBuilder("copilot_cli")
    builder.fields["framework"] = "copilot-cli"
    builder.fields["id"] = name_of(document.get("sessionId"))
    for item in document["timeline"]:
        if not isinstance(item, dict):
            continue
        kind, at = str(item.get("type")), item.get("timestamp")
        if kind == "user":
            builder.prompt(name_of(item.get("text")) or "", at)
        elif kind == "copilot":
            builder.reply(name_of(item.get("text")), at=at)
        elif kind.startswith("tool_call"):
            key, result = name_of(item.get("callId")), item.get("result")
            draft = builder.find_call(key or "") or builder.call(
                name_of(item.get("name")) or "", item.get("arguments"), key=key, at=at
            )
            if isinstance(result, dict):
                log, failed = result.get("log"), result.get("type") != "success"
                code = copilot_exit_code(log)
                builder.result(draft, log, failed=failed, exit_code=code, at=at)
    return builder
