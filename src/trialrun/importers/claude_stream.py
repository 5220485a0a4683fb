"""Read what `claude -p` prints with `--output-format stream-json` or `json`.

Each row repeats the first, partial usage of its request: the tokens and the cost of the run are
only in the last `result` row, by model (in old versions, as a whole and without subagents). The
prompt is printed with `--replay-user-messages` only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from trialrun.errors import Problem, TraceError
from trialrun.importers._claude import Agent, Reader
from trialrun.importers._claude_rows import Line, line_of
from trialrun.importers._claude_usage import drop_tokens, share_out, share_whole, sums_of
from trialrun.importers._values import amount, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import ANSWER, COSTS, EVIDENCE, TIMINGS, TOKENS

_ROWS = frozenset({"system", "assistant", "user", "result", "stream_event"})
_RESULT_ONLY = frozenset({ANSWER, TOKENS, COSTS, TIMINGS})


class ClaudeStreamImporter(Importer):
    """Reads one run from the output of `claude -p`."""

    name = "claude_stream"
    title = "output of `claude -p --output-format stream-json` (or `json`)"
    suffixes = (".jsonl", ".json", ".ndjson", ".txt")
    export = "`claude -p PROMPT --output-format stream-json --verbose > FILE`"
    carries = EVIDENCE
    one_run_a_file = True
    example = (
        '{"type": "system", "subtype": "init", "cwd": "/app", "session_id": "s", "model": "m"}\n'
        '{"type": "user", "isReplay": true, "session_id": "s", "parent_tool_use_id": null, '
        '"message": {"role": "user", "content": "2 + 2?"}}\n'
        '{"type": "assistant", "session_id": "s", "parent_tool_use_id": null, "message": {"id": '
        '"1", "model": "m", "content": [{"type": "text", "text": "4"}], "usage": {"input_tokens": '
        '3, "output_tokens": 1}}}\n'
        '{"type": "result", "subtype": "success", "is_error": false, "result": "4", "session_id": '
        '"s", "duration_ms": 900, "total_cost_usd": 0.01, "modelUsage": {"m": {"inputTokens": 3, '
        '"outputTokens": 8, "costUSD": 0.01}}}\n'
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        rows = document if isinstance(document, list) else source.objects
        return any(map(_is_row, rows[:100]))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        run = _Run()
        for line in _lines(source):
            if isinstance(line, Problem):
                yield line
            else:
                run.read(line)
        if run.is_empty:
            return
        carries = self.carries if run.has_rows else _RESULT_ONLY
        yield run.finished().trace(carries), []


def _is_row(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("session_id"), str):
        return False
    kind = value.get("type")
    if "sessionId" in value or not isinstance(kind, str) or kind not in _ROWS:
        return False
    if kind in ("assistant", "user"):
        return isinstance(value.get("message"), dict)
    return "subtype" in value or kind == "stream_event"


def _lines(source: Source) -> Iterator[Line | Problem]:
    document = source.document
    if isinstance(document, list):
        yield from (msgspec.convert(row, Line) for row in document if isinstance(row, dict))
        return
    for number, data in source.lines():
        if isinstance(data, Problem):
            yield data
        elif data.lstrip().startswith(b"{"):  # other lines are messages of the program
            try:
                line = line_of(data)
            except TraceError as error:
                yield Problem(str(error), file=str(source), line=number)
            else:
                if line is not None:
                    yield line


class _Run:
    """A builder with the rows of one run."""

    def __init__(self) -> None:
        self.builder = TraceBuilder(ClaudeStreamImporter.name)
        self.builder.fields["framework"] = "claude-code"
        self.reader = Reader(self.builder)
        self.agents: dict[str, Agent] = {}
        self.result: Line | None = None
        self.usages: list[Any] = []  # of the agent itself since the result before
        self.has_rows = False
        self.cwd: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.result is None and self.builder.is_empty

    def read(self, line: Line) -> None:
        if isinstance(line.stream_session, str):
            self.builder.fields.setdefault("id", line.stream_session)
        if line.type == "result":
            self.result = line
            self.usages.append(line.usage)
        elif line.type == "system" and line.subtype == "init":
            self._init(line)
        elif line.type in ("assistant", "user"):
            self.has_rows = True
            line.cwd = line.cwd or self.cwd
            self.reader.read(line, self._agent(line))

    def _init(self, line: Line) -> None:
        self.has_rows = True
        if isinstance(line.cwd, str):
            self.cwd = line.cwd
            self.builder.facts.setdefault("cwd", line.cwd)

    def _agent(self, line: Line) -> Agent | None:
        """The subagent of the row, which is known by the call that started it."""
        call = line.caller
        if not isinstance(call, str):
            return None
        if call not in self.agents:
            name = line.subagent_type if isinstance(line.subagent_type, str) else call
            self.agents[call] = Agent(call, name, call)
        return self.agents[call]

    def finished(self) -> TraceBuilder:
        """The builder, with what the last row says of the whole run."""
        builder, result = self.builder, self.result
        self.reader.finish()
        if builder.input is None:
            builder.dropped("the prompt, which the stream does not have")
        if result is None:
            builder.cut_off(self.reader.stopped or "the output ends without a result")
            drop_tokens(builder)
            return builder
        if sums := sums_of(result.model_usage):
            share_out(builder, sums, with_tokens=True)
        else:
            cost = amount(result.total_cost_usd) or None
            share_whole(builder, self.usages, cost, is_complete=not self.agents)
        builder.fields["duration_ms"] = amount(result.duration_ms)
        self._answer(result)
        return builder

    def _answer(self, result: Line) -> None:
        said = result.result if isinstance(result.result, str) else None
        if result.is_error is True or result.subtype != "success":
            why = said or text_of(result.errors) or str(result.subtype)
            self.builder.cut_off(why[:200])
            return
        if result.structured_output is not None:
            self.builder.say(result.structured_output)
        elif said is not None and said.strip() not in str(self.builder.answer or ""):
            # It is the last block of the last message, which the trace has as a whole.
            self.builder.say(said)
