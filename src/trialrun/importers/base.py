"""The interface of an importer: it recognises files of one format and reads their traces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from trialrun.errors import Problem
from trialrun.importers._builder import TraceBuilder
from trialrun.importers._source import NO_DOCUMENT, Source
from trialrun.model.evidence import EVIDENCE
from trialrun.model.trace import Trace

__all__ = ["NO_DOCUMENT", "Importer", "Record", "Source", "TraceBuilder"]

Record = tuple[Trace, list[Problem]]
"""A trace, and notes on values that were left out."""


class Importer(ABC):
    """The base of every importer; its name is the name of its file.

    A record that cannot be read is yielded as a `Problem` with its place, and the others are read.
    `example` is the text of a small file of the format, which tests read.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # what it reads, for the documentation
    suffixes: ClassVar[tuple[str, ...]]  # file endings, lower case: what is looked for in folders
    example: ClassVar[str]
    export: ClassVar[str] = ""  # how one gets such a file, for the documentation
    carries: ClassVar[frozenset[str]] = EVIDENCE  # the kinds of evidence that the format can have
    has_input: ClassVar[bool] = True  # whether the format records what the user asked
    one_run_a_file: ClassVar[bool] = False  # an unreadable line is missing from the one run
    when_empty: ClassVar[str | None] = None  # the note on a file without a trace; None: an error

    @abstractmethod
    def recognises(self, source: Source) -> bool:
        """Whether the content of the file is of this format."""

    @abstractmethod
    def records(self, source: Source) -> Iterator[Record | Problem]:
        """The traces of the file, and problems for records that cannot be read."""

    def belongs_to(self, file: Path) -> Path | None:
        """The file that this one is a part of, and with which it is read."""
        return None

    def is_not_trace(self, file: Path) -> bool:
        """Whether a file in a folder of traces is known by its name to be something else."""
        return False
