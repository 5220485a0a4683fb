"""Everything that trialrun raises on purpose.

    TrialrunError
    ├── UsageError        a command or function was called in a way that cannot work     exit 2
    ├── SpecError         a spec says something that it must not say                     exit 2
    ├── PluginError       a named check, metric or runner cannot be had                  exit 2
    ├── StoreError        a store of runs cannot be used: damaged, refused, too new      exit 2
    │   └── StoreWriteError   what a run found could not be recorded                     exit 3
    ├── NothingSelected   nothing is left to judge                                       exit 5
    └── TraceError        a trace, or a file of them, cannot be read                     exit 3

A user's mistake ends in one of these, and its text is written for that user: what happened, where,
what was found, what would be right. Anything else that escapes is a bug of ours and keeps its
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

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        return ": ".join(part for part in (place, self.path, self.message) if part)


class TrialrunError(Exception):
    """The root: catch this to catch all that trialrun raises on purpose."""

    exit_code = 2

    def messages(self) -> list[str]:
        """What to tell the user, one message for each thing that is wrong."""
        return [str(self)]


class UsageError(TrialrunError):
    """A command or function was called in a way that cannot work."""


class NothingSelected(TrialrunError):
    """No case is left to judge: an empty spec, an empty folder, a filter that matches nothing."""

    exit_code = 5


class PluginError(TrialrunError):
    """A check, metric or runner that was named cannot be imported or is not one."""


class StoreError(TrialrunError):
    """A store of runs cannot be used: it is damaged, refuses, or was made by a newer trialrun."""


class StoreWriteError(StoreError):
    """What a run found could not be recorded: a full disk, a lost server, an attempt twice."""

    exit_code = 3


class _WithProblems(TrialrunError):
    def __init__(self, problems: Iterable[Problem] | str) -> None:
        if isinstance(problems, str):
            problems = (Problem(problems),)
        self.problems: Sequence[Problem] = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def messages(self) -> list[str]:
        return [str(problem) for problem in self.problems]


class SpecError(_WithProblems, ValueError):
    """A spec is wrong. `problems` holds every mistake that was found, not only the first."""


class TraceError(_WithProblems, ValueError):
    """A trace cannot be read. `problems` has a place for each record that could not."""

    exit_code = 3


def crash(error: BaseException) -> str:
    """The crash of a plug-in in a line: its type and, if it says something, what.

    Whatever a plug-in raises, `sys.exit` and a cancelled task included, is its own crash and not
    the end of the run. Ctrl-C is the user's, and goes on.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    try:
        said = str(error)
    except Exception:
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class TraceWarning(UserWarning):
    """A value of a trace was unusable: it was left out, and counts as unknown."""
