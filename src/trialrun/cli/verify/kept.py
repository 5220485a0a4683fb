"""The traces of sessions for a report that shows them: on disk, so that memory does not grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from trialrun.model import trace_format
from trialrun.model.trace import Trace


class KeptTraces(Iterable[Trace]):
    """Traces in a file, one per line."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def add(self, trace: Trace) -> None:
        """Keep one more."""
        self._file.write(trace.to_json() + b"\n")

    def __iter__(self) -> Iterator[Trace]:
        self._file.seek(0)
        return (trace_format.decode(line)[0] for line in self._file)
