"""git: it shows, it puts back, and it brings in what others, or another branch, have written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Report, Service
from trialrun.verification.programs.files import apply_patch, move_files, remove_files
from trialrun.verification.programs.making import make_deed, plain_words
from trialrun.verification.shell import Command

_WITH_VALUE = frozenset({"-m", "--author", "-n", "--source", "-s", "-C", "--format", "-U"})
_NAMES_ONLY = frozenset(
    "--stat --name-only --name-status --shortstat --numstat --quiet --exit-code".split()
)
_REVISION = re.compile(r"[\w./-]*(?:HEAD|main|master|origin/\S+|\w+\.\.\.?\w*)[\w~^.]*")

# A merge that changed nothing says so; one that stops at a conflict has changed files all the same.
_BROUGHT_IN = Report(
    nothing=re.compile(
        r"Already up[ -]to[ -]date|Current branch \S+ is up to date|No stash entries found|nothing to commit",
        re.IGNORECASE,
    ),
    something=re.compile(r"^CONFLICT |Automatic merge failed|Fast-forward", re.MULTILINE),
)
_PUT_AWAY = Report(nothing=re.compile(r"No local changes to save"))
_BRINGS_IN = frozenset({"merge", "pull", "rebase", "cherry-pick", "revert"})
_CALLED_OFF = frozenset("--abort --quit --dry-run --show-current-patch --edit-todo".split())

# A push to one of these is a deployment, and not only a copy of what was committed.
_DEPLOYS = re.compile(
    r"^(?:heroku|dokku|deploy|piku|clever|scalingo|gigalixir|prod|production|live)"
)


def run_git(command: Command, words: list[str]) -> Iterator[Deed]:
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[1:]
    if not rest:
        return
    verb, arguments = rest[0], rest[1:]
    plain = plain_words(arguments, _WITH_VALUE)
    if "--" in arguments:
        plain = arguments[arguments.index("--") + 1 :]
    if verb in ("diff", "show"):
        yield from _diff(command, verb, arguments, plain)
    elif verb == "grep":
        pattern = plain[0] if plain else ""
        yield make_deed(d.SEARCH, command, by="git grep", paths=tuple(plain[1:]), content=pattern)
    elif verb in ("apply", "am"):
        if not _CALLED_OFF & set(arguments):
            yield from apply_patch(command, ["patch", *arguments])
    elif verb == "mv":
        yield from move_files(command, ["mv", *arguments])
    elif verb == "rm":
        if "--cached" not in arguments:
            yield from remove_files(command, ["rm", *arguments])
    elif verb in ("restore", "checkout", "stash", "reset"):
        yield from _put_back(command, verb, arguments, plain)
    elif verb in ("status", "log", "ls-files", "blame", "branch"):
        files = plain if verb in ("ls-files", "blame") else []
        yield make_deed(d.LIST, command, by="git " + verb, paths=tuple(files), sees_names_only=True)
    elif verb in _BRINGS_IN:
        if not _CALLED_OFF & set(arguments):
            yield make_deed(d.EDIT, command, by="git " + verb, report=_BROUGHT_IN)
    elif verb == "push" and plain and _DEPLOYS.match(plain[0]) and "--dry-run" not in arguments:
        yield make_deed(
            d.SERVICE, command, by=f"git push {plain[0]}", service=Service(host=command.host)
        )


def _diff(
    command: Command, verb: str, arguments: Sequence[str], plain: Sequence[str]
) -> Iterator[Deed]:
    files = list(plain)
    if "--" not in arguments:
        files = [word for word in plain if "/" in word or "." in word]
    files = [file for file in files if not _REVISION.fullmatch(file)]
    if verb == "show" and not files:
        return
    names = any(word in _NAMES_ONLY for word in arguments)
    yield make_deed(d.DIFF, command, by="git " + verb, paths=tuple(files), sees_names_only=names)


def _put_back(
    command: Command, verb: str, arguments: Sequence[str], plain: Sequence[str]
) -> Iterator[Deed]:
    if verb == "restore":
        letters = "".join(word for word in arguments if re.fullmatch(r"-[A-Za-z]+", word))
        staged = "--staged" in arguments or "S" in letters
        if not staged or "--worktree" in arguments or "W" in letters:
            yield make_deed(d.RESTORE, command, by="git restore", paths=tuple(plain))
    elif verb == "checkout":
        if "--" in arguments:
            yield make_deed(d.RESTORE, command, by="git checkout", paths=tuple(plain))
        elif plain and (plain[-1] == "." or re.search(r"\.\w+$", plain[-1])):
            yield make_deed(d.RESTORE, command, by="git checkout", paths=(plain[-1],))
    elif verb == "stash":
        yield from _stash(command, arguments)
    elif "--hard" in arguments:
        yield make_deed(d.RESTORE, command, by="git reset --hard")


def _stash(command: Command, arguments: Sequence[str]) -> Iterator[Deed]:
    """`git stash -- a.py` has no verb: what stands behind the dashes is files, and nothing else."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    plain = plain_words(arguments[:cut], _WITH_VALUE)
    verb = plain[0] if plain else "push"
    if verb in ("push", "save"):
        files = [*plain[1:], *arguments[cut + 1 :]] if verb == "push" else []
        yield make_deed(d.RESTORE, command, by="git stash", paths=tuple(files), report=_PUT_AWAY)
    elif verb in ("pop", "apply"):
        yield make_deed(d.EDIT, command, by=f"git stash {verb}", report=_BROUGHT_IN)
