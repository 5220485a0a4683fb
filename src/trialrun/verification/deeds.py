"""What one call of a tool, or one program of a script, does: it changes something, or looks.

A deed says what and where, not how it ended: that is read from the result, in `reading.py`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from trialrun.verification.shell import Command

# Deeds that change something.
EDIT = "edit"
REMOVE = "remove"
RENAME = "rename"
RESTORE = "restore"  # back to what was committed
SERVICE = "service"
DATA = "data"
CHANGES = frozenset({EDIT, REMOVE, RENAME, RESTORE, SERVICE, DATA})

# Deeds that look at a file.
READ = "read"
SEARCH = "search"
DIFF = "diff"
LIST = "list"
LOOKS = frozenset({READ, SEARCH, DIFF, LIST})

# Deeds that try something out.
TEST = "test"
BUILD = "build"
LINT = "lint"
TYPES = "types"
FORMAT = "format"
CONFIG = "config"
RUN = "run"
PROBE = "probe"
QUERY = "query"
TRIALS = frozenset({TEST, BUILD, LINT, TYPES, FORMAT, CONFIG, RUN})

OBSERVATIONS = LOOKS | TRIALS | {PROBE, QUERY}


class Service(Struct, frozen=True, gc=False):
    """A running thing: what is known of its name, its machine and its port."""

    names: frozenset[str] = frozenset()
    host: str | None = None
    port: str | None = None
    cluster: str | None = None  # the one that a tool for several was told to talk to
    database: str | None = None

    def __str__(self) -> str:
        text = "/".join(sorted(self.names)) or "service"
        if self.database:
            text += f" in {self.database}"
        if self.cluster:
            text += f" on {self.cluster}"
        if self.host:
            text += f" on {self.host}"
        if self.port:
            text += f" on port {self.port}"
        return text


class Report(Struct, frozen=True):
    """What a program says about its own changes, where it says it."""

    nothing: re.Pattern[str] | None = None  # it changed nothing
    something: re.Pattern[str] | None = None  # it did, whatever its status
    names: re.Pattern[str] | None = None  # the files, each in the first group
    silent: bool = True  # if it says none of these: it changed something

    def changed(self, output: str) -> bool | None:
        """Whether something was changed; None: by its status."""
        if self.names is not None and self.names.search(output):
            return True
        if self.something is not None and self.something.search(output):
            return True
        if self.nothing is not None and self.nothing.search(output):
            return False
        return None if self.silent else False

    def files(self, output: str) -> tuple[str, ...]:
        """The files that it names."""
        found = self.names.findall(output) if self.names is not None else ()
        return tuple(dict.fromkeys(found))[:200]


class Deed(Struct, frozen=True, gc=False):
    """One thing that was done."""

    kind: str
    by: str = ""  # the program or the tool, as a person would name it
    paths: tuple[str, ...] = ()
    folder: str | None = ""
    service: Service | None = None
    command: Command | None = None
    languages: frozenset[str] = frozenset()  # which files a runner is about; empty: any
    filters: tuple[str, ...] = ()  # words by which a part of the tests was picked
    endless: bool = False  # a watch, a server: it has no result
    content: str | None = None  # what was written, where the call says it
    source: str | None = None  # of a rename: the old name; of a copy: what was copied
    runner: object | None = None  # the Runner, where one was recognised
    sees_names_only: bool = False
    package: str | None = None  # a part of the project, known by its name only
    report: Report | None = None  # of a change: how its output tells what was changed
    new: str | None = None  # of an edit: the text that was put in, where the call says no more
    old: str | None = None  # and the one that was taken out
    answers: bool = False  # a look that counts only where the run has changed something to look at
    partly: bool = False  # a look that shows a part of the file
