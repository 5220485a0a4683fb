"""The interface of an importer: it recognises files of one format and reads their traces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from trialrun.errors import Problem
from trialrun.model.trace import Trace

Record = tuple[Trace, list[Problem]]
"""A trace, and notes on values that were left out."""


class Head:
    """The beginning of a file, from which its format is recognised."""

    def __init__(self, file: Path, first_line: bytes) -> None:
        self.file = file
        # The first line that is not blank and not a comment, without a byte order mark.
        self.first_line = first_line


class Importer(ABC):
    """The base of every importer; its name is the name of its file.

    A record that cannot be read is yielded as a `Problem` with its place, and the others are read.
    `example` is the text of a small file of the format, which tests read.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # what it reads, for the documentation
    suffixes: ClassVar[tuple[str, ...]]  # file endings, lower case
    example: ClassVar[str]
    one_run_a_file: ClassVar[bool] = False  # an unreadable line is missing from the one run
    when_empty: ClassVar[str | None] = None  # the note on a file without a trace; None: an error

    @abstractmethod
    def recognises(self, head: Head) -> bool:
        """Whether the content of the file is of this format."""

    @abstractmethod
    def records(self, file: Path) -> Iterator[Record | Problem]:
        """The traces of the file, and problems for records that cannot be read."""

    def belongs_to(self, file: Path) -> Path | None:
        """The file that this one is a part of, and with which it is read."""
        return None

    def is_not_trace(self, file: Path) -> bool:
        """Whether a file in a folder of traces is known by its name to be something else."""
        return False
