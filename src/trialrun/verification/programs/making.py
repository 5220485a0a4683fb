"""What every program needs to become a deed: its words, its options, its folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from trialrun.verification.deeds import Deed
from trialrun.verification.paths import join
from trialrun.verification.shell import Command


def make_deed(kind: str, command: Command, **fields: Any) -> Deed:
    return Deed(
        kind,
        by=fields.pop("by", command.name),
        folder=fields.pop("folder", command.folder),
        command=command,
        **fields,
    )


def moved(command: Command, folder: str) -> Command:
    return replace(command, folder=join(command.folder, folder))


_GLOBAL_OPTIONS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    # program: (options with a value, those of them that name a folder)
    "npm": (
        frozenset("--prefix -C --workspace -w --loglevel".split()),
        frozenset({"--prefix", "-C", "--workspace", "-w"}),
    ),
    "pnpm": (
        frozenset("-C --dir --filter -F".split()),
        frozenset({"-C", "--dir", "--filter", "-F"}),
    ),
    "yarn": (frozenset({"--cwd"}), frozenset({"--cwd"})),
    "bun": (frozenset({"--cwd"}), frozenset({"--cwd"})),
    "make": (frozenset("-C --directory -f --file -j".split()), frozenset({"-C", "--directory"})),
    "git": (frozenset("-C -c --git-dir --work-tree".split()), frozenset({"-C", "--work-tree"})),
    "go": (frozenset({"-C"}), frozenset({"-C"})),
    "docker": (
        frozenset("-f --file -p --project-name --profile --env-file -H --context".split()),
        frozenset(),
    ),
    "docker-compose": (
        frozenset("-f --file -p --project-name --profile --env-file".split()),
        frozenset(),
    ),
    "kubectl": (frozenset("-n --namespace --context --kubeconfig --cluster".split()), frozenset()),
    "helm": (frozenset("-n --namespace --kube-context".split()), frozenset()),
    "terraform": (frozenset(), frozenset()),
    "just": (
        frozenset("-f --justfile -d --working-directory".split()),
        frozenset({"-d", "--working-directory"}),
    ),
    "task": (frozenset("-t --taskfile -d --dir".split()), frozenset({"-d", "--dir"})),
    "mvn": (frozenset("-f --file -pl --projects -P".split()), frozenset({"-pl", "--projects"})),
    "mvnw": (frozenset("-f --file -pl --projects -P".split()), frozenset({"-pl", "--projects"})),
    "gradle": (frozenset("-p --project-dir".split()), frozenset({"-p", "--project-dir"})),
    "gradlew": (frozenset("-p --project-dir".split()), frozenset({"-p", "--project-dir"})),
    "cargo": (
        frozenset("--manifest-path -p --package --config".split()),
        frozenset({"-p", "--package"}),
    ),
    "dotnet": (frozenset(), frozenset()),
    "alembic": (frozenset("-c --config -x -n --name".split()), frozenset()),
    "systemctl": (frozenset("-H --host -M".split()), frozenset()),
    "prisma": (frozenset({"--schema"}), frozenset()),
}


_PACKAGE_OPTIONS = frozenset("--workspace -w --filter -F -pl --projects -p --package".split())


def without_globals(name: str, words: Sequence[str]) -> tuple[list[str], str | None, str | None]:
    """The words without options that stand before a subcommand; the folder or package they name."""
    if name not in _GLOBAL_OPTIONS:
        return [*words], None, None
    options, folders = _GLOBAL_OPTIONS[name]
    kept = [words[0]] if words else []
    folder = package = None
    index = 1
    if name == "cargo" and len(words) > 1 and words[1].startswith("+"):
        index = 2
    if name == "yarn" and list(words[1:2]) == ["workspace"] and len(words) > 3:
        package, index = words[2], 3
    while index < len(words):
        word = words[index]
        option, equals, value = word.partition("=")
        if option in options and (equals or index + 1 < len(words)):
            if option in folders:
                value = value if equals else words[index + 1]
                if option in _PACKAGE_OPTIONS and name not in ("gradle", "gradlew"):
                    package = value
                else:
                    folder = value
            index += 1 if equals else 2
            continue
        kept.append(word)
        index += 1
    if package is not None:
        package = package.rpartition("/")[2].strip(".^!*:{}[]")
    return kept, folder, package or None


def called(words: Sequence[str]) -> str:
    return " ".join(word for word in words[:3] if not word.startswith("-"))


def plain_words(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """The words that are neither options nor their values."""
    kept = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in with_value:
            skip = True
        elif not word.startswith("-") or word == "-":
            kept.append(word)
    return kept


_REHEARSAL = re.compile(
    r"--?dry-?run(?:=(?!none|false)\S+)?|DRY_?RUN=(?:1|true|yes|on)|--(?:check|plan|noop|no-op|what-?if|preview|simulate)",
    re.IGNORECASE,
)


def is_rehearsal(command: Command) -> bool:
    """Whether the command only shows what it would do."""
    words = (*command.words[1:], *command.variables)
    return any(_REHEARSAL.fullmatch(word) for word in words) or (
        command.name == "make" and "-n" in words
    )
