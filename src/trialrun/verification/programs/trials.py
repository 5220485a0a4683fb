"""Programs that try something out: a runner with its arguments, a target of `make` or `npm`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.paths import join
from trialrun.verification.programs.fixers import fix_deed
from trialrun.verification.programs.making import is_rehearsal, make_deed
from trialrun.verification.runners import Runner, Table, kind_of_target
from trialrun.verification.shell import Command

_FILTER_OPTIONS = frozenset(
    "-k -t --deselect --ignore --ignore-glob --filter --grep -g --testNamePattern --test-name-pattern -run --run -m --only --spec --tests --name -R --testPathPattern --bench --test".split()
)


_FILTER_FLAGS = frozenset(
    {"--lf", "--last-failed", "--sw", "--stepwise", "--onlyFailures", "--onlyChanged", "--changed"}
)


_VALUE_OPTIONS = frozenset(
    "--test-dir --build-config --build-dir -L -p -c -o -n --maxfail --cov --cov-report --tb --timeout -W --rootdir --config --project -P --reporter --workers -j --jobs"
    " --durations --junitxml --format --coverage --config-file --ext --rulesdir --max-warnings --logger --configuration --framework --seed -s --settings --verbosity"
    " --output-format --select --target-version -race -count -timeout -coverprofile --features --package -e --environment --env --level --count --reruns --repeat-each --retries --randomly-seed -r --require".split()
)


_NO_VALUE = {
    # With these programs the option stands alone.
    "go test": frozenset({"-race", "-c", "-n"}),
    "pytest": frozenset({"-s", "--cov"}),
    "jest": frozenset({"--coverage", "-o", "-i", "-e"}),
    "vitest": frozenset({"--coverage"}),
    "npm": frozenset({"--coverage"}),
    "playwright": frozenset({"-x"}),
    "unittest": frozenset({"-c"}),
    "tox": frozenset({"-p"}),
}


def run_trial(command: Command, runner: Runner, rest: Sequence[str]) -> Deed:
    paths, filters = run_arguments(runner.name, rest, runner.takes_paths)
    # `vitest` alone watches in a terminal and runs once elsewhere: what it printed tells.
    endless = _given(rest, runner.endless) and not _given(rest, runner.ends_with)
    if runner.ends_with:
        paths = tuple(path for path in paths if path not in runner.ends_with)
    if runner.name in ("bazel", "bazel build"):
        paths = tuple(_folder_of_label(label) for label in filters if label.startswith("//"))
        filters = tuple(label for label in filters if not label.startswith("//"))
    if runner.name in ("unittest", "django"):
        paths = tuple(path for path in paths if path != "discover")
        paths = tuple(
            path.replace(".", "/") if "/" not in path and not path.endswith(".py") else path
            for path in paths
        )
    if runner.kind == d.CONFIG and runner.takes_paths and not paths:
        paths = command.reads  # python -m json.tool < x.json
    return make_deed(
        runner.kind,
        command,
        by=runner.name,
        paths=paths,
        filters=filters,
        languages=frozenset(runner.languages),
        endless=endless,
        runner=runner,
    )


def _folder_of_label(label: str) -> str:
    """`//search/ranking:all` and `//search/ranking/...` stand for that folder."""
    return label.removeprefix("//").partition(":")[0].removesuffix("...").rstrip("/") or "."


def _given(rest: Sequence[str], options: Sequence[str]) -> bool:
    """Whether one of the options is among the words, with a value or without; an empty one is."""
    if not options:
        return False
    given = {*rest, *(word.partition("=")[0] for word in rest)}
    return "" in options or not given.isdisjoint(options)


_VARIABLE = re.compile("[A-Z_]+")  # of make or rake


def run_arguments(
    runner: str, rest: Sequence[str], takes_paths: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths that a runner was given, and the words that pick a part of its tests."""
    paths: list[str] = []
    filters: list[str] = []
    alone = _NO_VALUE.get(runner, frozenset())
    index = 0
    while index < len(rest):
        word = rest[index]
        option, equals, value = word.partition("=")
        if word == "--" or (equals and _VARIABLE.fullmatch(option)):
            index += 1
            continue
        if word.startswith("-"):
            if option in _FILTER_FLAGS:
                filters.append(option)
            elif option in _FILTER_OPTIONS:
                if equals:
                    filters.append(value)
                elif index + 1 < len(rest):
                    filters.append(rest[index + 1])
                    index += 1
            elif option in _VALUE_OPTIONS and option not in alone and not equals:
                index += 1
            index += 1
            continue
        if "::" in word and not word.startswith("::"):
            word, _, name = word.partition("::")
            filters.append(name)
        if takes_paths:
            paths.append(word)
        elif word not in ("run", "all", "run-parallel", "p", "r"):
            filters.append(word)
        index += 1
    return tuple(paths), tuple(filters)


def run_sbt(command: Command, words: list[str]) -> Iterator[Deed]:
    """`sbt 'producer/test; consumer/test'`: tasks of projects, several in a word."""
    tasks = [task.strip() for word in words[1:] for task in word.split(";") if task.strip()]
    for task in tasks:
        project, _, name = task.split()[0].rpartition("/")
        kind = {"test": d.TEST, "testOnly": d.TEST, "testQuick": d.TEST, "compile": d.BUILD}.get(
            name
        )
        if kind is not None:
            yield make_deed(
                kind,
                command,
                by="sbt",
                languages=frozenset({"jvm"}),
                package=project.rpartition("/")[2] or None,
                filters=tuple(task.split()[1:]),
            )


TARGET_RUNNERS = frozenset(
    "make gmake just task npm pnpm yarn bun gradle gradlew rake invoke inv doit composer mvn mvnw hatch poe pdm moon lage deno scons ant dagger earthly tilt mage lerna mise pixi devbox turbo".split()
)


_TARGET_LANGUAGES = {
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun", "deno", "turbo"), frozenset({"javascript", "proto"})
    ),
    **dict.fromkeys(("gradle", "gradlew", "mvn", "mvnw"), frozenset({"jvm"})),
    "composer": frozenset({"php"}),
    "rake": frozenset({"ruby"}),
    **dict.fromkeys(("hatch", "pdm", "poe"), frozenset({"python"})),
}


_SCRIPT_RUNNERS = frozenset(
    {
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "composer",
        "hatch",
        "pdm",
        "deno",
        "lerna",
        "mise",
        "pixi",
        "devbox",
    }
)


_NOT_SCRIPTS = frozenset(
    "install i ci add remove rm uninstall update upgrade init link audit outdated publish pack version config cache login whoami view why list ls dedupe require dump-autoload".split()
)


_NOT_TARGET = re.compile(r"^-|=")


def run_targets(command: Command, words: list[str], name: str, table: Table) -> Iterator[Deed]:
    """`make test`, `npm run lint`, `gradle :app:check`: known by the name of the target."""
    rest = words[1:]
    if name == "turbo":
        yield from _turbo(command, rest)
        return
    if name in _SCRIPT_RUNNERS:
        plain = [word for word in rest if not word.startswith("-")]
        if not plain or plain[0] in _NOT_SCRIPTS:
            return
        if plain[0] in ("run", "run-script", "task", "exec", "x", "dlx"):
            plain = plain[1:]
        if not plain:
            return
        target, extra = plain[0], plain[1:]
        if "--" in rest:
            extra = rest[rest.index("--") + 1 :]
        inner = table.find((target, *extra))
        # `pnpm build` is a script of the project, and not the program of Python's packagers.
        fits = inner is not None and (not inner[0].languages or "javascript" in inner[0].languages)
        if (
            inner is not None
            and fits
            and inner[0].kind != d.PROBE
            and name in ("yarn", "pnpm", "bun", "mise", "pixi", "devbox")
        ):
            yield run_trial(command, *inner)
            return
        yield from _target(command, f"{name} {target}", target, extra)
        return
    filters = [rest[index + 1] for index, word in enumerate(rest[:-1]) if word in _FILTER_OPTIONS]
    targets = [word for word in rest if not _NOT_TARGET.search(word) and word not in filters]
    if not targets:
        if name in ("make", "gmake", "ant", "scons"):
            yield make_deed(d.BUILD, command, by=name)
        return
    for target in targets:
        yield from _target(
            command, f"{name} {target}", target, [f"--filter={one}" for one in filters]
        )


def _turbo(command: Command, rest: Sequence[str]) -> Iterator[Deed]:
    """`turbo run typecheck test --filter=api --filter=web`: every task in every package named."""
    chosen = [word.partition("=")[2] for word in rest if word.startswith(("--filter=", "-F="))]
    chosen += [rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("--filter", "-F")]
    packages = [one.strip(".^!*{}[]").rpartition("/")[2] for one in chosen]
    for task in rest:
        if not task.startswith("-") and task != "run" and task not in chosen:
            for deed in _target(command, f"turbo {task}", task, ()):
                yield replace(deed, package=",".join(filter(None, packages)) or None)


def _target(command: Command, shown: str, target: str, extra: Sequence[str]) -> Iterator[Deed]:
    kind, endless = kind_of_target(target)
    if kind is None and not endless:
        kind = d.RUN
    if kind in (d.SERVICE, d.DATA) and is_rehearsal(command):
        kind = d.RUN
    if kind in (d.SERVICE, d.DATA):
        yield make_deed(kind, command, by=shown, service=Service(frozenset(), command.host))
        return
    paths, filters = run_arguments("npm", extra, True)
    watched = any(word.startswith("--watch") and "false" not in word for word in extra)
    folder = command.folder
    if target.startswith(":") and target.count(":") > 1:  # a module of gradle
        folder = join(folder, target.strip(":").rpartition(":")[0].replace(":", "/"))
    fixes = "fix" in re.split(r"[^a-z]+", target.lower()) or "--fix" in extra
    formats = kind == d.FORMAT and not re.search(r"check|verify|diff", target)
    if fixes or formats:
        yield fix_deed(command, shown)
    if kind is not None and not formats:
        yield make_deed(
            kind,
            command,
            by=shown,
            paths=paths,
            filters=filters,
            endless=endless or watched,
            folder=folder,
            languages=_TARGET_LANGUAGES.get(command.name, frozenset()),
        )
