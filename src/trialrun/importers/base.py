"""What an importer is: it recognises files of one format and reads the traces in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from trialrun.errors import Problem
from trialrun.model.trace import Trace

Record = tuple[Trace, list[Problem]]
"""A trace, and notes on values of the file that were left out."""


class Head:
    """The beginning of a file: as much as is looked at to tell its format."""

    def __init__(self, file: Path, first_line: bytes) -> None:
        self.file = file
        self.first_line = first_line  # the first line that is not blank and not a comment


class Importer(ABC):
    """The base of every importer; named like its file.

    A record that cannot be read is yielded as a `Problem` with its place, and the rest is read.
    `example` is the text of a small file of the format: tests read it.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # what it reads, for the documentation
    suffixes: ClassVar[tuple[str, ...]]  # endings of its files, lower case
    example: ClassVar[str]
    one_run_a_file: ClassVar[bool] = False  # a line that is lost is lost to the one run in it
    when_empty: ClassVar[str | None] = None  # why a file of this format may hold no trace

    @abstractmethod
    def recognises(self, head: Head) -> bool:
        """Whether the file is of this format, by its content."""

    @abstractmethod
    def records(self, file: Path) -> Iterator[Record | Problem]:
        """The traces of the file, and what of it cannot be read."""

    def belongs_to(self, file: Path) -> Path | None:
        """The file of which this one is a part, and which is read with it."""
        return None

    def is_no_trace(self, file: Path) -> bool:
        """Whether a file that lies among traces is known to be something else, by its name."""
        return False
