"""Puts the spans of a file together by trace, and reads each trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trialrun.errors import Problem
from trialrun.importers._builder import TraceBuilder
from trialrun.importers._spans.run import Run, build
from trialrun.importers._spans.span import Span
from trialrun.model.trace import Trace

Record = tuple[Trace, list[Problem]]
Batch = tuple[int, list[Span]]
"""Spans that stand in one place of a file, and the number of the place."""


def read(
    batches: Iterable[Batch | Problem],
    format: str,
    file: str,
    last: Mapping[str, int] | None = None,
) -> Iterator[Record | Problem]:
    """The traces. `last` has the last place of each trace: it is read when that is reached."""
    reading = _Reading(format, file)
    waiting: dict[str, list[Span]] = {}
    for batch in batches:
        if isinstance(batch, Problem):
            yield batch
            continue
        place, spans = batch
        for span in spans:
            waiting.setdefault(span.trace_id, []).append(span)
        if last is not None:
            for key in {span.trace_id for span in spans}:
                if last.get(key, place) <= place:
                    yield from reading.trace(waiting.pop(key))
    for spans in waiting.values():
        yield from reading.trace(spans)
    yield from reading.end()


class _Reading:
    """Reads one trace after the other; one is held back, for the note on what is no run."""

    def __init__(self, format: str, file: str) -> None:
        self.format = format
        self.file = file
        self.held: Record | None = None
        self.without = 0
        self.spans = 0

    def trace(self, spans: list[Span]) -> Iterator[Record]:
        run = Run(spans)
        if not run.is_run:
            self.without += 1
            self.spans += len(spans)
            return
        if self.held is not None:
            yield self.held
        self.held = build(run, TraceBuilder(self.format)), []

    def end(self) -> Iterator[Record | Problem]:
        if not self.without:
            if self.held is not None:
                yield self.held
            return
        traces = "1 trace" if self.without == 1 else f"{self.without} traces"
        spans = "1 span" if self.spans == 1 else f"{self.spans} spans"
        note = Problem(
            f"{spans} in {traces} without an agent, a model call or a tool call: not read",
            file=self.file,
        )
        if self.held is None:
            yield note
        else:
            trace, notes = self.held
            yield trace, [*notes, note]
