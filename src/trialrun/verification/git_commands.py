"""What git, gh and glab do: the files, the history, or something outside."""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.verification.done import (
    ACT,
    DELETE,
    INERT,
    MOVE,
    READ,
    TREE,
    UNKNOWN,
    WRITE,
    Done,
    is_dry,
    plain_words,
)
from trialrun.verification.shell import Command

_GIT_TREE = frozenset(
    "merge pull rebase cherry-pick revert checkout restore switch reset stash am".split()
)
_GIT_INERT = frozenset(
    """status diff log show branch remote fetch rev-parse rev-list ls-files blame describe config tag
    worktree add grep shortlog reflog cat-file ls-tree merge-base name-rev for-each-ref symbolic-ref
    check-ignore init clone submodule bisect notes archive gc ls-remote""".split()
)


def git_does(command: Command, words: Sequence[str]) -> list[Done]:
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in ("-C", "-c") else rest[1:]
    if not rest:
        return [Done(INERT, "git")]
    verb, arguments = rest[0], rest[1:]
    label = f"git {verb}"
    if verb in ("commit", "push") and not is_dry(arguments):
        return [Done(ACT, label, act=verb, tolerant=bool({"--no-verify", "-n"} & set(arguments)))]
    if verb == "rm" and "--cached" not in arguments:
        return [Done(DELETE, label, paths=plain_words(arguments))]
    if verb == "mv":
        return [Done(MOVE, label, paths=plain_words(arguments))]
    if verb == "apply":
        return [Done(TREE, label)]
    if verb in ("checkout", "restore", "switch") and "--" in arguments:
        return [Done(WRITE, label, paths=tuple(arguments[arguments.index("--") + 1 :]))]
    if (verb == "restore" and not {"--staged", "-S"} & set(arguments)) or (
        verb == "checkout" and "." in arguments
    ):
        return [Done(WRITE, label, paths=plain_words(arguments) if verb == "restore" else (".",))]
    if verb in ("checkout", "switch") and {"-b", "-c", "-B"} & set(arguments):
        return [Done(INERT, label)]
    if verb == "stash" and arguments[:1] in (["list"], ["show"], ["drop"]):
        return [Done(INERT, label)]
    if verb in _GIT_TREE and "--abort" not in arguments:
        return [Done(TREE, label)]
    return [
        Done(
            READ if verb in ("show", "diff", "grep") else INERT, label, paths=plain_words(arguments)
        )
    ]


def forge_does(words: Sequence[str]) -> list[Done]:
    """`gh pr create`, `gh pr checks`, `gh run watch`."""
    plain = plain_words(words[1:])
    pair = plain[:2]
    if pair[:1] in (("pr",), ("mr",)) and pair[1:] in (("create",), ("merge",), ("ready",)):
        return [Done(ACT, f"gh pr {pair[1]}", act="pr" if pair[1] != "merge" else "merge")]
    if pair in (
        ("pr", "checks"),
        ("run", "view"),
        ("run", "watch"),
        ("run", "list"),
        ("ci", "status"),
    ):
        return [Done(ACT, f"gh {' '.join(pair)}", act="ci")]
    if pair[:1] == ("release",) and pair[1:] == ("create",):
        return [Done(ACT, "gh release create", act="deploy", target="release")]
    if pair[:1] in (("workflow",), ("run",)) and pair[1:] in (("run",), ("rerun",)):
        return [Done(UNKNOWN, f"gh {' '.join(pair)}")]
    return [Done(ACT if pair[:1] == ("api",) else INERT, f"gh {' '.join(pair)}", act="forge")]
