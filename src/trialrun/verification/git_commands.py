"""What git, gh and glab do: the files, the history, or something outside."""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.verification import done as d
from trialrun.verification.done import Done, is_dry, plain_words
from trialrun.verification.shell import Command
from trialrun.verification.tables import words

_TREE = frozenset(words("git tree"))


def git_does(command: Command, given: Sequence[str]) -> list[Done]:
    rest = list(given[1:])
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in ("-C", "-c") else rest[1:]
    if not rest:
        return [Done(d.INERT, "git")]
    verb, arguments = rest[0], rest[1:]
    label = f"git {verb}"
    plain = plain_words(arguments)
    if verb in ("commit", "push") and not is_dry(arguments):
        return [Done(d.ACT, label, act=verb, tolerant=bool({"--no-verify", "-n"} & set(arguments)))]
    if verb == "rm" and "--cached" not in arguments:
        return [Done(d.DELETE, label, paths=plain)]
    if verb == "mv":
        return [Done(d.MOVE, label, paths=plain)]
    if verb in ("checkout", "restore", "switch", "stash"):
        return [_put_back(verb, label, arguments)]
    if verb == "apply" or (verb in _TREE and "--abort" not in arguments):
        return [Done(d.TREE, label)]
    return [Done(d.READ if verb in ("show", "diff", "grep") else d.INERT, label, paths=plain)]


def _put_back(verb: str, label: str, arguments: Sequence[str]) -> Done:
    """What commands do that take files, or all of them, from elsewhere."""
    given = set(arguments)
    if verb == "stash":
        quiet = arguments[:1] in (["list"], ["show"], ["drop"])
        return Done(d.INERT if quiet else d.TREE, label)
    if "--" in arguments:
        return Done(d.WRITE, label, paths=tuple(arguments[arguments.index("--") + 1 :]))
    if verb == "restore" and not {"--staged", "-S"} & given:
        return Done(d.WRITE, label, paths=plain_words(arguments))
    if verb == "checkout" and "." in arguments:
        return Done(d.WRITE, label, paths=(".",))
    new_branch = verb != "restore" and {"-b", "-c", "-B"} & given
    return Done(d.INERT if new_branch else d.TREE, label)


_LOOKS_AT_CI = (
    ("pr", "checks"),
    ("run", "view"),
    ("run", "watch"),
    ("run", "list"),
    ("ci", "status"),
)


def forge_does(given: Sequence[str]) -> list[Done]:
    """`gh pr create`, `gh pr checks`, `gh run watch`."""
    plain = plain_words(given[1:])
    pair = plain[:2]
    if pair[:1] in (("pr",), ("mr",)) and pair[1:] in (("create",), ("merge",), ("ready",)):
        return [Done(d.ACT, f"gh pr {pair[1]}", act="pr" if pair[1] != "merge" else "merge")]
    if pair in _LOOKS_AT_CI:
        return [Done(d.ACT, f"gh {' '.join(pair)}", act="ci")]
    if pair[:1] == ("release",) and pair[1:] == ("create",):
        return [Done(d.ACT, "gh release create", act="deploy", target="release")]
    if pair[:1] in (("workflow",), ("run",)) and pair[1:] in (("run",), ("rerun",)):
        return [Done(d.UNKNOWN, f"gh {' '.join(pair)}")]
    return [Done(d.ACT if pair[:1] == ("api",) else d.INERT, f"gh {' '.join(pair)}", act="forge")]
