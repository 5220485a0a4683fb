"""What a report is: a name, the endings of its files, and a run rendered as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from msgspec import Struct

from trialrun.model.results import RunResult


class View(Struct, frozen=True, kw_only=True):
    """How a report is wanted; a report ignores what does not concern it."""

    strict: bool = False  # a warning counts as a failure
    quiet: bool = False  # only the summary
    verbose: bool = False  # also what passed
    colour: bool = False


class Report(ABC):
    """The base of every report; named like its file, chosen by `--format` or by an ending."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    for_machines: ClassVar[bool] = True  # written as UTF-8 whatever the terminal's encoding is

    @abstractmethod
    def render(self, run: RunResult, view: View) -> str:
        """The whole report."""
