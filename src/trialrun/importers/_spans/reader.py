"""Puts the spans of a file together by trace, and reads each trace."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

from trialrun.errors import Problem
from trialrun.importers._builder import TraceBuilder
from trialrun.importers._source import Source
from trialrun.importers._spans import once
from trialrun.importers._spans.run import Run
from trialrun.importers._spans.span import Span, as_id
from trialrun.importers._spans.steps import build
from trialrun.model.trace import Trace

Record = tuple[Trace, list[Problem]]
Batch = tuple[int, list[Span]]
"""Spans of one place in a file, and the number of the place."""


def read(
    batches: Iterable[Batch | Problem],
    format: str,
    file: str,
    last: Mapping[str, int] | None = None,
    windowed: bool = False,
) -> Iterator[Record | Problem]:
    """The traces. `last` has the last place of each trace: it is read when that is reached.

    `windowed`: the rows are those of a span of time, so a trace may begin before or end after it.
    """
    reading = _Reading(format, file, windowed)
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
                if last.get(key, place + 1) <= place:
                    yield from reading.run(Run(waiting.pop(key)))
    for run in _once([Run(spans) for spans in waiting.values()]):
        yield from reading.run(run)
    yield from reading.end()


# `"traceId":"5b8e…"`: finds the traces of a line without decoding it.
_TRACE_ID = re.compile(rb'"[tT]race_?[iI][dD]"\s*:\s*"([^"]*)"')


def last_places(source: Source) -> dict[str, int]:
    """The last line of each trace: a trace may be spread over many lines, and is read there."""
    last: dict[str, int] = {}
    for number, line in source.lines():
        if isinstance(line, bytes):
            for key in set(_TRACE_ID.findall(line)):
                last[as_id(key.decode(errors="replace"), 32)] = number
    return last


_NEAR = 50  # model calls under way at one time that are looked at


def _once(runs: list[Run]) -> list[Run]:
    """The runs without traces of one span that show a model call of another trace once more.

    Two libraries whose spans do not know each other write two traces.
    """
    single = [run for run in runs if len(run.nodes) == 1 and run.replies]
    if not single or len(single) == len(runs):
        return runs
    calls = [(reply.span.start or 0, run, reply) for run in runs for reply in run.replies]
    calls = sorted((call for call in calls if len(call[1].nodes) > 1), key=lambda call: call[0])
    starts = [start for start, _, _ in calls]
    gone = set()
    for run in single:
        node = run.replies[0]
        place = bisect_right(starts, node.span.end or node.span.start or 0)
        for _, other, reply in reversed(calls[max(0, place - _NEAR) : place]):
            if once.is_same(reply, node):
                reply.swallowed.append(node)
                other.repeated_replies += 1
                gone.add(id(run))
                break
    return [run for run in runs if id(run) not in gone]


class _Reading:
    """Reads one trace after the other; one is held back, for the note on what is not a run."""

    def __init__(self, format: str, file: str, windowed: bool) -> None:
        self.format = format
        self.windowed = windowed
        self.file = file
        self.held: Record | None = None
        self.without = 0
        self.spans = 0

    def run(self, run: Run) -> Iterator[Record]:
        if not run.is_run:
            self.without += 1
            self.spans += len(run.nodes)
            return
        if self.held is not None:
            yield self.held
        builder = TraceBuilder(self.format)
        why = run.why_cut if self.windowed else None
        if why is not None:
            builder.cut_off(why)
        self.held = build(run, builder), []

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
