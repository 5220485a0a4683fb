"""The fidelity of an import: what a recording holds, what it lacks, what was counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from trialrun.model.evidence import ANSWER, EVIDENCE, TIMINGS, TOKENS
from trialrun.model.trace import Trace
from trialrun.util.money import dollars
from trialrun.util.texts import counted

IMPORTED = "imported"
"""Key in the metadata of a trace: its format, and what was absent, repeated or dropped."""


class Fidelity:
    """Adds up the reports of the traces of one file. It keeps no trace."""

    def __init__(self) -> None:
        self.format = "native"
        self.traces = self.model_calls = self.tool_calls = 0
        self.tokens = 0
        self.cost = 0.0
        self.without: Counter[str] = Counter()  # kind of evidence → traces that lack it
        self.repeated: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()

    def add(self, trace: Trace) -> None:
        """Count one more trace."""
        report = trace.metadata.get(IMPORTED)
        report = report if isinstance(report, dict) else {}
        self.format = str(report.get("format", self.format))
        self.traces += 1
        self.model_calls += len(trace.llm_calls)
        self.tool_calls += len(trace.tool_calls)
        self.tokens += trace.total_tokens or 0
        self.cost += trace.total_cost_usd or 0
        self.without.update(EVIDENCE - trace.recorded)
        _add(self.repeated, report.get("repeated"))
        _add(self.dropped, report.get("dropped"))

    def lines(self) -> Iterator[str]:
        """The report, the figures first."""
        figures = [
            self.format,
            counted(self.traces, "trace"),
            counted(self.model_calls, "model call"),
            counted(self.tool_calls, "tool call"),
        ]
        if TOKENS not in self.without or self.tokens:
            figures.append(f"{self.tokens:,} tokens")
        if self.cost:
            figures.append(dollars(self.cost))
        yield " · ".join(figures)
        for kinds, title in ((self.repeated, "counted once"), (self.dropped, "left out")):
            if kinds:
                yield f"{title}: {', '.join(f'{n:,} × {what}' for what, n in kinds.most_common())}"
        absent = [self._share(kind) for kind in sorted(self.without)]
        if absent:
            yield f"not recorded: {', '.join(absent)}"

    def _share(self, kind: str) -> str:
        missing = self.without[kind]
        name = _NAMES.get(kind, kind.replace("_", " "))
        return name if missing == self.traces else f"{name} (in {missing} of {self.traces})"


_NAMES = {ANSWER: "an answer", TIMINGS: "times"}


def _add(counter: Counter[str], given: Any) -> None:
    if isinstance(given, dict):
        counter.update({str(what): n for what, n in given.items() if type(n) is int})
