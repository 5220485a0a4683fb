"""Every error that trialrun raises on purpose.

    TrialrunError
    ├── UsageError        a command or function was called in a way that cannot work     exit 2
    ├── SpecError         a spec contains a mistake                                      exit 2
    │   └── CannotMask        a pattern of `redact:` takes too long on a text            exit 2
    ├── PluginError       a named check, metric or other plug-in cannot be loaded        exit 2
    ├── StoreError        a store of runs cannot be used: damaged, refused, too new      exit 2
    │   └── StoreWriteError   results of a run could not be recorded                     exit 3
    ├── NoVerdict         a judge that is audited gave no verdict at all                 exit 3
    ├── NothingSelected   no case is selected                                            exit 5
    └── TraceError        a trace, or a file of them, cannot be read                     exit 3

    KeyboardInterrupt
    └── RunInterrupted    Ctrl-C during `trialrun.run`

A user's mistake raises one of these, and its message is written for that user: what happened,
where, what was found, what would be right. Any other exception is a bug in trialrun and keeps its
traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct


class Problem(Struct, frozen=True):
    """One thing that is wrong, and the place where it is wrong."""

    message: str
    path: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    count: int = 1  # of how many records

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        return ": ".join(part for part in (place, self.path, self.message) if part)


class TrialrunError(Exception):
    """The base class: catch it to catch every error that trialrun raises on purpose."""

    exit_code = 2

    def messages(self) -> list[str]:
        """The messages for the user, one for each problem."""
        return [str(self)]


class UsageError(TrialrunError):
    """A command or function was called in a way that cannot work."""


class NothingSelected(TrialrunError):
    """No case is selected: an empty spec, an empty folder, a filter that matches nothing."""

    exit_code = 5


class NoVerdict(TrialrunError):
    """A judge that is audited gave no verdict at all."""

    exit_code = 3


class PluginError(TrialrunError):
    """A named check, metric or other plug-in cannot be imported, or has the wrong type."""


class StoreError(TrialrunError):
    """A store of runs cannot be used: damaged, access refused, or made by a newer trialrun."""


class StoreWriteError(StoreError):
    """Results could not be recorded: a full disk, a lost server, an attempt recorded twice."""

    exit_code = 3


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C during `trialrun.run`. `result` holds what was done until then.

    Not a TrialrunError: like KeyboardInterrupt, it ends a program that does not catch it.
    """

    def __init__(self, message: str, result: object) -> None:
        super().__init__(message)
        self.result = result


class _WithProblems(TrialrunError):
    def __init__(self, problems: Iterable[Problem] | str) -> None:
        if isinstance(problems, str):
            problems = (Problem(problems),)
        self.problems: Sequence[Problem] = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def messages(self) -> list[str]:
        return [str(problem) for problem in self.problems]


class SpecError(_WithProblems, ValueError):
    """A spec has mistakes. `problems` lists all that were found, not only the first."""


class CannotMask(SpecError):
    """A pattern of `redact:` reached its time limit: the text must not be stored."""


class TraceError(_WithProblems, ValueError):
    """A trace cannot be read. `problems` gives the place of each unreadable record."""

    exit_code = 3


def crash(error: BaseException) -> str:
    """Describe the crash of a plug-in in one line: the exception's type and its message, if any.

    Whatever a plug-in raises counts as its crash and does not end the run, not even `sys.exit` or
    a cancelled task. Ctrl-C comes from the user and is raised again.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    try:
        message = str(error)
    except Exception:
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


class TraceWarning(UserWarning):
    """A value in a trace was unusable: it was left out and counts as unknown."""
