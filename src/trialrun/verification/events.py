"""What happened in a run, with names that can be compared: changes, looks, all of them in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from trialrun.model.ledger import Counts, Outcome
from trialrun.model.trace import Step
from trialrun.verification.deeds import Service
from trialrun.verification.paths import Paths
from trialrun.verification.ports import ports_in

FILE, SERVICE, DATA = "file", "service", "data"

_NEW_NAMES = frozenset({"touch", "ln", "tar", "gtar", "bsdtar", "unzip"})
_WORD_ENDS = re.compile(r"[\s=,:;'\"]+")

Key = tuple[str, str, bool]


class Change(Struct, frozen=True, gc=False):
    """Something that was changed. `at` counts deeds, so that two of one call have an order."""

    at: int
    step: str
    kind: str
    target: str  # the comparable name of a file (of a folder: with a slash), or the service as text
    shown: str
    by: str
    language: str | None = None
    service: Service | None = None
    content: str = ""
    removed: bool = False
    restored: bool = False  # back to what was committed: nothing is owed, but runs before are stale
    widely: bool = False  # a whole tree was restored, and not one file
    skips: bool = False  # a test was told not to run

    @property
    def key(self) -> Key:
        """What makes two changes one to every look: the thing, and whether it was taken away.

        A folder that two programs changed is two things: what shows the one need not show the
        other. So are a name that is new and the text that is written under it later.
        """
        target = self.target
        if self.kind == FILE and (target.endswith("/") or self.by in _NEW_NAMES):
            target = f"{target} {self.by}"
        return self.kind, target, self.removed

    @property
    def is_tree(self) -> bool:
        """Whether a whole folder was changed, and not one file that is known by its name."""
        return self.kind == FILE and self.target.endswith("/")

    @property
    def is_name(self) -> bool:
        """Whether a name is all that is new: a list of names shows it."""
        return self.kind == FILE and self.by in _NEW_NAMES

    @property
    def is_prose(self) -> bool:
        """Whether no test, build or type checker is about it: a text, a setting, who knows what."""
        return self.language in (None, "docs", "markup")


class Look(Struct, frozen=True, gc=False):
    """Something that was looked at or tried, and what came of it."""

    at: int
    step: str
    kind: str
    by: str
    paths: tuple[str, ...]
    folder: str
    outcome: Outcome
    counts: Counts | None = None
    detail: str = ""
    text: str = ""
    languages: frozenset[str] = frozenset()
    filters: tuple[str, ...] = ()
    package: str | None = None
    service: Service | None = None
    content: str = ""
    names_only: bool = False
    command: str = ""
    missed: tuple[str, ...] = ()  # files of which it showed another part than the one changed
    undone: tuple[str, ...] = ()  # files that it shows without the change that was made to them
    answers: bool = False  # it speaks of what the same program has changed, and of nothing else
    host: str | None = None  # the machine that it was started on, where that is another one

    @property
    def informs(self) -> bool:
        """Whether it showed anything at all."""
        return self.outcome in (Outcome.PASSED, Outcome.FAILED)


class Refused(Struct, frozen=True, gc=False):
    """An edit that did not take place."""

    path: str
    text: str  # what the file was to hold
    at: int


class Events(Struct, dict=True):
    """What happened, in order."""

    changes: list[Change]
    looks: list[Look]
    paths: Paths
    contents: dict[str, str]  # the texts of files, as far as they were read or written whole
    texts: list[str]  # what the calls returned, for looking up what was seen
    failed: list[Refused]
    calls: Sequence[Step] = ()  # all of them, whatever they did
    latest: dict[str, int] = {}  # of each thing that was changed, when it was last

    @cached_property
    def consumers(self) -> dict[str, list[Change]]:
        """Of files that were asked for, the changes of services that they went into."""
        return {}

    @cached_property
    def services_by_word(self) -> dict[str, list[Change]]:
        """The changes of services by what stands last in each path of their commands."""
        found: dict[str, list[Change]] = {}
        for change in self.services:
            words = _WORD_ENDS.split(change.content)
            for last in {word.rstrip("/").rpartition("/")[2] for word in words}:
                found.setdefault(last, []).append(change)
        return found

    @cached_property
    def services(self) -> list[Change]:
        """The changes of what runs somewhere."""
        return [change for change in self.changes if change.kind == SERVICE]

    @cached_property
    def call_of(self) -> dict[str, Step]:
        """The calls by the names of their steps."""
        return {step.id: step for step in self.calls}

    @cached_property
    def ports(self) -> dict[str, str]:
        """The services by their ports, as far as the run has seen a compose file."""
        return ports_in(self.texts)


def program_of(by: str) -> str:
    """The program in the name of a deed: `gh pr merge` → gh."""
    return by.partition(" ")[0]
