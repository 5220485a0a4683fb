"""Read chat histories of aider: Markdown of all sessions in a folder, one after the other.

`#### ` lines are the user, `> ` lines are aider's own output, the rest is the model. Edits are
blocks in its text and not calls, so calls are not recorded. Tokens and costs are rounded by aider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._usage import counted
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import ANSWER, COSTS, LLM_CALLS, TOKENS

_STARTED = "# aider chat started at "
# "> Tokens: 12k sent, 3.1k cache hit, 518 received. Cost: $0.02 message, $0.03 session."
_TOKENS = re.compile(r"> Tokens: (.*?)\.(?=\s|$)(?: Cost: \$([\d.]+) (?:message|request|send))?")
_COUNT = re.compile(r"([\d.,]+)(k|M)? (sent|received|cache hit|cache write)")
_MODEL = re.compile(r"> (?:Main model|Model|Models): (\S+)")  # "> Model: gpt-4o with diff edit …"
_EDITED = re.compile(r"> Applied edit to (.+?)\s*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_UNITS = {None: 1, "": 1, "k": 1_000, "M": 1_000_000}


class AiderImporter(Importer):
    """Reads one trace per session; most sessions of a long history have no prompt."""

    name = "aider"
    title = "chat histories of aider"
    suffixes = (".md",)
    export = "`.aider.chat.history.md`"
    carries = frozenset({ANSWER, LLM_CALLS, TOKENS, COSTS})
    example = (
        "# aider chat started at 2026-01-02 03:04:05\n\n> Model: gpt-4o with diff edit format\n\n"
        "#### What is 2 + 2?\n\n4\n\n> Tokens: 1.2k sent, 5 received. Cost: $0.01 message, "
        "$0.01 session.\n"
    )

    def recognises(self, source: Source) -> bool:
        head = source.start.decode(errors="replace")
        if f"\n{_STARTED}" in f"\n{head}":
            return True
        return 'class="chat-transcript"' in head and "\n#### " in head

    def records(self, source: Source) -> Iterator[Record | Problem]:
        session: _Session | None = None
        for line in source.text().splitlines():
            if line.startswith(_STARTED):
                if session is not None:
                    yield session.record()
                session = _Session(line.removeprefix(_STARTED).strip())
            elif session is not None:
                session.line(line)
            elif 'class="chat-transcript"' in line:
                session = _Session(None)
        if session is not None:
            yield session.record()


class _Session:
    def __init__(self, started: str | None) -> None:
        self.builder = TraceBuilder("aider")
        self.started = started
        self.model: str | None = None
        self.asked: list[str] = []
        self.said: list[str] = []
        self.edited: list[str] = []
        self.fence: str | None = None
        self.reply: Draft | None = None

    def line(self, line: str) -> None:
        if line.startswith("####") and line[4:5] in ("", " "):
            self._end_reply()
            self.asked.append(line[4:].strip())
            return
        if self.asked:
            self._end_prompt()
        fence = _FENCE.match(line)
        if fence is not None:
            mark = fence[1][:3]
            self.fence = mark if self.fence is None else None if self.fence == mark else self.fence
        if line.startswith("> ") and self.fence is None:
            self._output(line)
        else:
            self.said.append(line)

    def _output(self, line: str) -> None:
        """A line of aider's own."""
        tokens, model, edited = _TOKENS.match(line), _MODEL.match(line), _EDITED.match(line)
        if model is not None:
            self.model = model[1]
        elif edited is not None:
            self.edited.append(edited[1])
        elif tokens is not None:
            self._end_reply()
            self._count(tokens[1], tokens[2])

    def _count(self, counts: str, cost: str | None) -> None:
        """Tokens of the reply before; without one, of a model call that left no text."""
        if self.builder.input is None:
            return
        if self.reply is None or "tokens" in self.reply.fields:
            self.reply = self.builder.reply(model=self.model)
        found = {kind: _number(count, unit) for count, unit, kind in _COUNT.findall(counts)}
        usage = counted(
            self.model,
            input=found.get("sent"),
            output=found.get("received"),
            cached=found.get("cache hit"),
            written=found.get("cache write"),
        )
        self.reply.set(tokens=usage, cost_usd=float(cost) if cost and float(cost) else None)

    def _end_prompt(self) -> None:
        text = "\n".join(self.asked).strip()
        self.asked = []
        if text.startswith("/"):
            self.builder.dropped("command of the user")
        else:
            self.builder.prompt(text)
        self.reply = None

    def _end_reply(self) -> None:
        text = "\n".join(self.said).strip().removesuffix("</div>").strip()
        self.said, self.fence = [], None
        if text and self.builder.input is not None:
            self.reply = self.builder.reply(text, model=self.model)

    def record(self) -> Record:
        if self.asked:
            self._end_prompt()
        self._end_reply()
        self.builder.fields |= {"framework": "aider"}
        name = f"aider {self.started}" if self.started else "aider"
        trace = self.builder.trace(
            AiderImporter.carries, name=name, started=self.started, edited=self.edited or None
        )
        return trace, []


def _number(digits: str, unit: str) -> int | None:
    try:
        return round(float(digits.replace(",", "")) * _UNITS[unit])
    except ValueError:
        return None
