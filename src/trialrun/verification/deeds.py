"""What one call of a tool, or one program of a script, does: it changes something, or looks.

A deed says what and where, not how it ended: that is read from the result, in `reading.py`.
"""

from __future__ import annotations

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


class Service(Struct, frozen=True):
    """A running thing: what is known of its name, its machine and its port."""

    names: frozenset[str] = frozenset()
    host: str | None = None
    port: str | None = None
    cluster: str | None = None  # the one that a tool for several was told to talk to

    def __str__(self) -> str:
        text = "/".join(sorted(self.names)) or "service"
        if self.cluster:
            text += f" on {self.cluster}"
        if self.host:
            text += f" on {self.host}"
        if self.port:
            text += f" on port {self.port}"
        return text


class Deed(Struct, frozen=True):
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
