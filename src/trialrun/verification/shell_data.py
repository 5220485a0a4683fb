"""A shell script as data: the programs that it starts, and the lines that it prints itself."""

from __future__ import annotations

from msgspec import Struct


class Command(Struct, frozen=True, gc=False):
    """One program that a script starts."""

    words: tuple[str, ...]
    folder: str | None = ""  # where it runs, seen from where the script starts; None: not known
    shown: bool = True  # the script's success means that this one succeeded
    negated: bool = False
    background: bool = False
    writes: tuple[str, ...] = ()  # files that its output is sent to
    reads: tuple[str, ...] = ()  # files that it is fed with
    stdin: str | None = None  # text that stands in the script itself
    piped_from: tuple[str, ...] = ()  # the program whose output it reads, if it stands in a pipe
    piped_into: tuple[tuple[str, ...], ...] = ()  # the programs that read what it prints
    host: str | None = None  # another machine, or a container, that it runs on
    variables: tuple[str, ...] = ()  # assignments in front of it, as written
    told_by: str | None = None  # the text of an `echo … $?` right behind it, which tells its status
    echoed: str | None = None  # a line that the script prints only if this one succeeded
    altered: bool = (
        False  # options of its interpreter may change what it does: `python -O -m pytest`
    )

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""


class Line(Struct, frozen=True, gc=False):
    """A line that the script prints itself."""

    text: str
    behind: tuple[Command, ...] = ()  # `a && echo …`: the programs that must have succeeded before


class Script(Struct, frozen=True, gc=False):
    """The programs of one script, in order; `sound` unless it does not parse."""

    commands: tuple[Command, ...]
    sound: bool = True
    folder: str | None = ""  # where the script leaves the shell that it ran in
    said: tuple[Line, ...] = ()
