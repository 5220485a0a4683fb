"""What a session did, as plain data: changes, runs, acts and reads, in the order of the session.

Facts carry no verdict. `actions.py` makes them from calls, `timeline.py` puts them together, and
rules read them. `at` is a position in the session: a smaller one happened earlier.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from trialrun.model.ledger import Counts, Outcome


class Sort(StrEnum):
    """What a changed file is to the project."""

    CODE = "code"
    TEST = "test"
    CONFIG = "config"
    TEXT = "text"  # notes, docs, change logs, ignore files: shown by the success of the edit
    STATE = "state"  # the agent's memory and plans, scratch files, temporary folders
    OUTSIDE = "outside"  # the user's own settings, another place than the project


OBLIGING = frozenset({Sort.CODE, Sort.TEST, Sort.CONFIG})
"""Files of these sorts are to be exercised after they were changed."""


UNALTERED = frozenset({"format", "mode"})
"""Verbs of changes after which a file still says what it said."""


class Why(StrEnum):
    """Why the outcome of a run is not known, or is worth less than it looks."""

    NONE = ""
    HIDDEN = "its status is hidden, and it printed no result"
    AMONG = "its call failed, and not for certain because of it"
    BACKGROUND = "it was left in the background"
    KILLED = "it was stopped before its end"
    NOT_RECORDED = "its result is not recorded"
    DRY = "it only lists or rehearses"
    NOTHING_RAN = "nothing was collected or checked"
    SWITCHED_OFF = "an option may have switched its checks off"


class Change(Struct, frozen=True, gc=False):
    """A successful call that changed a file, or a whole folder (`tree`)."""

    at: int
    step: str
    path: str
    sort: Sort
    by: str
    verb: str = "edit"  # edit, create, delete, move, format, tree, mode
    new: str = ""
    old: str = ""
    own: bool = False  # the file was made in this session
    agent: str = ""


class Run(Struct, frozen=True, gc=False):
    """A command that tries something out: tests, build, lint, types, format, config, a program."""

    at: int
    step: str
    kind: str
    name: str
    command: str
    folder: str
    outcome: Outcome
    why: Why = Why.NONE
    also: frozenset[str] = frozenset()  # further kinds that its output shows, of a commit hook
    paths: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    languages: frozenset[str] = frozenset()
    counts: Counts | None = None
    line: str = ""
    text: str = ""
    tolerant: bool = False  # `--quiet`, reruns: it passes where a plain run would not
    code: str = ""  # the source of a snippet: `python -c "…"`
    steps: tuple[str, ...] = ()  # of a run in the background: its start, each look at its output

    @property
    def partial(self) -> bool:
        """Whether only a named part was run."""
        return bool(self.filters or self.paths)

    def shows(self, kind: str) -> bool:
        """Whether the run is one of that kind, or includes one."""
        return self.kind == kind or kind in self.also


class Act(Struct, frozen=True, gc=False):
    """Something done outside of files: commit, push, pull request, deploy, probe, delegate."""

    at: int
    step: str
    kind: str
    ok: bool | None
    target: str = ""
    text: str = ""


class Look(Struct, frozen=True, gc=False):
    """A read, search, listing or diff."""

    at: int
    step: str
    kind: str
    path: str = ""


class Unknown(Struct, frozen=True, gc=False):
    """A command or tool that could have been a check or a change: nothing is concluded from it."""

    at: int
    step: str
    command: str
    text: str = ""  # the beginning of what it printed
    writes: bool = True  # it may have changed files
    opaque: bool = False  # a tool, subagent or script: nothing shows what it did
    ok: bool | None = None  # whether it succeeded, where its own status is known


class Failed(Struct, frozen=True, gc=False):
    """A call that was to change a file and failed."""

    at: int
    step: str
    path: str


class Message(Struct, frozen=True, gc=False):
    """What the agent said to the user, at one moment."""

    at: int
    step: str
    turn: int
    text: str
    last: bool = False  # the final message of the session


class Facts(Struct, frozen=True, gc=False):
    """Everything that was recognised in one session, each list in the order of the session."""

    changes: tuple[Change, ...]
    runs: tuple[Run, ...]
    acts: tuple[Act, ...]
    looks: tuple[Look, ...]
    unknown: tuple[Unknown, ...]
    failed: tuple[Failed, ...]
    messages: tuple[Message, ...]
    root: str
    end: int
    finished: bool = True
    calls: int = 0
    results_recorded: bool = True
    texts: tuple[str, ...] = ()  # what every call was given and printed
    scripts: tuple[tuple[int, str], ...] = ()  # the source of each shell script, and when
    prompts: tuple[tuple[int, str], ...] = ()  # what the user wrote, and when
