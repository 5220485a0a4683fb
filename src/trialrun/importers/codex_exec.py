"""Read the events that `codex exec --json` prints: one JSON object a line.

The stream has neither the prompt nor the name of the model. Usage is given once, as a sum, at the
end of a turn: one step represents all model calls of a turn; their number is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._usage import counted
from trialrun.importers._values import text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import (
    ANSWER,
    REASONING,
    TOKENS,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
)

# The values of an item that are arguments of the call; all else is about its result.
_ARGUMENTS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "mcp_tool_call": ("arguments",),
    "web_search": ("query", "action"),
    "todo_list": ("items",),
    "collab_tool_call": ("tool", "prompt", "receiver_thread_ids"),
}


class CodexExecImporter(Importer):
    """Reads the one run that `codex exec --json` printed."""

    name = "codex_exec"
    title = "the events of `codex exec --json`"
    suffixes = (".jsonl",)
    export = "`codex exec --json PROMPT > run.jsonl`"
    carries = frozenset({ANSWER, TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS, TOKENS, REASONING})
    one_run_a_file = True
    has_input = False
    example = (
        '{"type": "thread.started", "thread_id": "t"}\n'
        '{"type": "turn.started"}\n'
        '{"type": "item.completed", "item": {"id": "item_0", "type": "command_execution", '
        '"command": "expr 2 + 2", "aggregated_output": "4", "exit_code": 0, '
        '"status": "completed"}}\n'
        '{"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", '
        '"text": "4"}}\n'
        '{"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 4, '
        '"output_tokens": 1}}\n'
    )

    def recognises(self, source: Source) -> bool:
        kinds = [str(value.get("type")) for value in source.objects[:3]]
        is_event = any(kind in ("thread.started", "turn.started") for kind in kinds)
        return is_event and "thread_id" in source.objects[0]

    def records(self, source: Source) -> Iterator[Record | Problem]:
        run = _Run()
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif isinstance(item[1], dict):
                run.event(item[1])
        if run.turns:
            yield run.builder.trace(self.carries), []


class _Run:
    def __init__(self) -> None:
        self.builder = TraceBuilder("codex_exec")
        self.builder.fields["framework"] = "codex"
        self.turns = 0

    def event(self, event: dict[str, Any]) -> None:
        """Read one event."""
        kind = event.get("type")
        if kind == "thread.started" and isinstance(event.get("thread_id"), str):
            self.builder.fields["id"] = event["thread_id"]
        elif kind == "turn.started":
            self.turns += 1
            self.builder.reply(key=self._turn)
            self.builder.cut_off("the turn has no end")
        elif kind == "turn.completed":
            self.builder.facts.pop("unfinished", None)
            self._usage(event.get("usage"))
        elif kind == "turn.failed":
            error = event.get("error")
            message = error.get("message") if isinstance(error, dict) else error
            self.builder.cut_off(f"error: {message}")
        elif isinstance(event.get("item"), dict):
            self._item(event["item"])

    @property
    def _turn(self) -> str:
        return f"turn {self.turns}"

    def _usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        tokens = counted(
            None,
            input=usage.get("input_tokens"),
            output=usage.get("output_tokens"),
            cached=usage.get("cached_input_tokens"),
            written=usage.get("cache_write_input_tokens"),
            reasoning=usage.get("reasoning_output_tokens"),
        )
        self.builder.reply(key=self._turn, tokens=tokens)

    def _item(self, item: dict[str, Any]) -> None:
        kind, text = item.get("type"), item.get("text")
        if kind == "agent_message" and isinstance(text, str):
            self.builder.reply(text, key=self._turn)
            self.builder.say(text)
        elif kind == "reasoning" and isinstance(text, str):
            self.builder.think(text)
        elif isinstance(kind, str) and kind in _ARGUMENTS:
            self._call(item, kind)

    def _call(self, item: dict[str, Any], kind: str) -> None:
        """A call: once when it starts, again when it ends, at times in between."""
        key = item["id"] if isinstance(item.get("id"), str) else None
        draft = self.builder.find_call(key or "")
        if draft is None:
            tool = item.get("tool")
            name = tool if kind == "mcp_tool_call" and isinstance(tool, str) else kind
            draft = self.builder.call(name, key=key, alone=True)
            server = item.get("server")
            draft.note(server=server if isinstance(server, str) else None)
        given = {name: item[name] for name in _ARGUMENTS[kind] if item.get(name) is not None}
        if kind == "mcp_tool_call" and isinstance(given.get("arguments"), dict):
            given = given["arguments"]
        draft.set(tool_args=given)
        status = item.get("status", "completed")
        if status != "in_progress":
            failed = status in ("failed", "declined")
            self.builder.result(
                draft, _result(item), failed=failed, exit_code=item.get("exit_code")
            )


def _result(item: dict[str, Any]) -> Any:
    if "aggregated_output" in item:
        return item["aggregated_output"]
    error, result = item.get("error"), item.get("result")
    if error is not None:
        return error.get("message", error) if isinstance(error, dict) else error
    if isinstance(result, dict) and "content" in result:
        return text_of(result["content"]) or result
    return result if result is not None else item.get("agents_states", item.get("status"))
