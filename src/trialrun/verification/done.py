"""What one program of a script does: a kind, and what the kind needs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trialrun.verification.runners import Runner
from trialrun.verification.tables import words

INERT, WRITE, DELETE, MOVE, TREE = "inert", "write", "delete", "move", "tree"
CHECK, ACT, UNKNOWN, READ, FORMAT_WRITE = "check", "act", "unknown", "read", "format"
MODE = "mode"  # who may do what with a file


class Done(Struct, frozen=True, gc=False):
    """What a program does: `kind`, and of a check its runner, of an act what it acts on."""

    kind: str
    name: str
    paths: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    check: str = ""  # of a check: test, lint, types, build, format, config, run
    runner: Runner | None = None
    languages: tuple[str, ...] = ()
    act: str = ""
    target: str = ""
    tolerant: bool = False
    dry: bool = False
    endless: bool = False


_DRY = frozenset(words("dry"))


def plain_words(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in given if word and not word.startswith("-"))


def is_dry(given: Sequence[str]) -> bool:
    return any(word.partition("=")[0] in _DRY for word in given)
