"""Read the events that `gemini --output-format stream-json` prints: one JSON object a line.

Usage is in the last event, as a sum for each model: one step represents all calls of a model,
and their number is not recorded. A command that exited with 2 has the status "success" and no exit
code: how a command ended is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._usage import count, counted
from trialrun.importers._values import as_dict, moment, name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import ANSWER, TIMINGS, TOKENS, TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS
from trialrun.model.trace import StepStatus, TokenUsage

_SHELL = "run_shell_command"


class GeminiStreamImporter(Importer):
    """Reads the one run that Gemini CLI printed."""

    name = "gemini_stream"
    title = "the events of `gemini --output-format stream-json`"
    suffixes = (".jsonl",)
    export = "`gemini -p PROMPT --output-format stream-json > run.jsonl`"
    carries = frozenset({ANSWER, TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS, TOKENS, TIMINGS})
    one_run_a_file = True
    example = (
        '{"type": "init", "timestamp": "2026-01-02T03:04:05Z", "session_id": "s", "model": "m"}\n'
        '{"type": "message", "timestamp": "2026-01-02T03:04:05Z", "role": "user", '
        '"content": "2 + 2?"}\n'
        '{"type": "tool_use", "timestamp": "2026-01-02T03:04:06Z", "tool_name": "add", '
        '"tool_id": "c", "parameters": {"a": 2, "b": 2}}\n'
        '{"type": "tool_result", "timestamp": "2026-01-02T03:04:07Z", "tool_id": "c", '
        '"status": "success", "output": "4"}\n'
        '{"type": "message", "timestamp": "2026-01-02T03:04:08Z", "role": "assistant", '
        '"content": "4", "delta": true}\n'
        '{"type": "result", "timestamp": "2026-01-02T03:04:08Z", "status": "success", "stats": '
        '{"total_tokens": 12, "input_tokens": 9, "output_tokens": 2, "cached": 4}}\n'
    )

    def recognises(self, source: Source) -> bool:
        first = source.objects[0] if source.objects else {}
        is_init = first.get("type") == "init" and "session_id" in first and "model" in first
        return is_init and "subtype" not in first

    def records(self, source: Source) -> Iterator[Record | Problem]:
        run = _Run()
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif isinstance(item[1], dict):
                run.event(item[1])
        run.flush()
        if not run.builder.is_empty:
            yield run.builder.trace(self.carries), []


class _Run:
    def __init__(self) -> None:
        self.builder = TraceBuilder("gemini_stream")
        self.builder.fields["framework"] = "gemini-cli"
        self.builder.cut_off("the stream has no result")
        self.model: str | None = None
        self.reply: Draft | None = None
        self.deltas: list[str] = []

    def event(self, event: dict[str, Any]) -> None:
        """Read one event."""
        kind, at = event.get("type"), event.get("timestamp")
        if kind == "init":
            self.model = name_of(event.get("model"))
            self.builder.fields["id"] = name_of(event.get("session_id"))
        elif kind == "message":
            self._message(event, at)
        elif kind == "tool_use":
            self.flush()
            self._open(at)
            name, key = name_of(event.get("tool_name")), name_of(event.get("tool_id"))
            self.builder.call(name or "", event.get("parameters"), key=key, at=at, alone=True)
        elif kind == "tool_result":
            self._tool_result(event, at)
        elif kind == "result":
            self._result(event, at)

    def _message(self, event: dict[str, Any], at: Any) -> None:
        text = name_of(event.get("content")) or ""
        if event.get("role") == "assistant":
            self._open(at)
            if event.get("delta") is not True:
                self.flush()
            self.deltas.append(text)
        else:
            self.flush()
            self.builder.prompt(text, at)

    def _open(self, at: Any) -> None:
        if self.reply is None:
            self.reply = self.builder.reply(key="all", model=self.model, at=at)

    def flush(self) -> None:
        """The pieces of a text are complete."""
        text = "".join(self.deltas)
        self.deltas.clear()
        if text.strip():
            self.builder.reply(text, key="all")
            self.builder.say(text)

    def _tool_result(self, event: dict[str, Any], at: Any) -> None:
        message = name_of(as_dict(event.get("error")).get("message"))
        key, failed = name_of(event.get("tool_id")), event.get("status") != "success"
        value = event.get("output", message)
        self.builder.result(key, value, failed=failed, at=at)
        draft = self.builder.find_call(key or "")
        if draft is not None and draft.fields["tool_name"] == _SHELL and not failed:
            draft.fields["status"] = StepStatus.PENDING

    def _result(self, event: dict[str, Any], at: Any) -> None:
        self.flush()
        self._open(at)
        self.builder.fields["completed_at"] = moment(at)
        if event.get("status") == "success":
            self.builder.facts.pop("unfinished", None)
        else:
            error = event.get("error")
            message = error.get("message") if isinstance(error, dict) else error
            self.builder.cut_off(f"error: {message}")
        stats = as_dict(event.get("stats"))
        models = as_dict(stats.get("models"))
        used: dict[str | None, dict[str, Any]] = {
            name: one for name, one in models.items() if isinstance(one, dict)
        }
        self._usage(used or {self.model: stats}, at)

    def _usage(self, used: dict[str | None, dict[str, Any]], at: Any) -> None:
        """The usage of each model; the text is of the one that was asked for, or wrote most."""
        main = self.model if self.model in used else max(used, key=lambda name: _output(used[name]))
        for name, usage in used.items():
            tokens = _tokens(name, usage)
            if name == main:
                self.builder.reply(key="all", model=name, tokens=tokens)
            elif tokens is not None:
                self.builder.reply(model=name, at=at, tokens=tokens)


def _tokens(model: str | None, usage: dict[str, Any]) -> TokenUsage | None:
    """Thoughts are only in the total."""
    given, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    total = count(usage.get("total_tokens")) or 0
    return counted(
        model,
        input=given,
        output=output,
        cached=usage.get("cached"),
        reasoning=max(0, total - (given or 0) - (output or 0)),
        reasoning_inside=False,
    )


def _output(usage: dict[str, Any]) -> int:
    return count(usage.get("output_tokens")) or 0
