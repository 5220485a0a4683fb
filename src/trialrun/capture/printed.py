"""What a program printed: a stream of events in a format that an importer knows is a trace."""

from __future__ import annotations

from trialrun.errors import Problem, TraceError
from trialrun.importers.base import Source
from trialrun.model.trace import Trace
from trialrun.registry import importers


def trace_of_printed(data: bytes) -> Trace | None:
    """The trace in what a program printed; None if no importer recognises it.

    TraceError if a part of it cannot be read, or if it has several runs.
    """
    source = Source.of_bytes(data, "stdout.jsonl")
    kinds = [kind for name, kind in importers().items() if name != "native"]
    importer = next((found for kind in kinds if (found := kind()).recognises(source)), None)
    if importer is None:
        return None
    traces: list[Trace] = []
    for item in importer.records(source):
        if isinstance(item, Problem):
            raise TraceError(str(item))
        traces.append(item[0])
    if len(traces) != 1:
        raise TraceError(f"it has {len(traces)} runs of the format {importer.name}, expected one")
    return traces[0]
