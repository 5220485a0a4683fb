"""The base class of reports: a name, file name endings, and a run rendered as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from msgspec import Struct

from trialrun.model.audit import Audit
from trialrun.model.comparison import Comparison
from trialrun.model.results import RunResult
from trialrun.model.verified import Verification


class View(Struct, frozen=True, kw_only=True):
    """Display options; a report ignores those that do not apply to it."""

    strict: bool = False  # a warning counts as a failure
    quiet: bool = False  # only the summary
    verbose: bool = False  # also what passed
    colour: bool = False
    most: int | None = None  # how many cases a report for people shows; None: all
    width: int | None = None  # columns of a terminal; None: lines are as long as they need to be


class Report(ABC):
    """The base class of every report; chosen by `--format NAME` or by the ending of `-o FILE`.

    The name of the class's module is the name of the report.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    for_machines: ClassVar[bool] = True  # written as UTF-8 whatever the terminal's encoding is
    # What else it shows, besides runs: what `trialrun verify`, `compare` and `judge audit` find.
    reads_sessions: ClassVar[bool] = False
    reads_comparisons: ClassVar[bool] = False
    reads_audits: ClassVar[bool] = False
    reads_traces: ClassVar[bool] = False  # of sessions: they are kept for it until it is written

    @classmethod
    def require(cls) -> None:
        """UsageError if the report cannot be made here: asked before any agent is called."""
        return

    @abstractmethod
    def render(self, run: RunResult, view: View) -> str:
        """The whole report as text."""

    def pieces(self, run: RunResult, view: View) -> Iterable[str]:
        """The same text in pieces, for a report that need not hold all of it."""
        yield self.render(run, view)

    def render_sessions(self, found: Verification, view: View) -> str:
        """The report of `trialrun verify`, for a report with `reads_sessions`."""
        raise NotImplementedError

    def render_comparison(self, found: Comparison, view: View) -> str:
        """The report of `trialrun compare`, for a report with `reads_comparisons`."""
        raise NotImplementedError

    def render_audit(self, audit: Audit, view: View) -> str:
        """The report of `trialrun judge audit`, for a report with `reads_audits`."""
        raise NotImplementedError
