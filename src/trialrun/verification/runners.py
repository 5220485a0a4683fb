"""The table of runners: which commands check something, and what they are about.

A row names the words that a command begins with; options between them do not matter. How a result
is read follows from the kind of the runner (`outcomes.py`); a row may add patterns. The rows are in
`catalogue/runners.txt`; plug-ins add some by the entry point `trialrun.verification.runners`, and
specs by `verification: runners:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.util.texts import did_you_mean
from trialrun.verification.tables import group, lines_of

TEST, LINT, TYPES, BUILD, FORMAT = "test", "lint", "types", "build", "format"
CONFIG, PROBE = "config", "probe"
KINDS = (TEST, LINT, TYPES, BUILD, FORMAT, CONFIG, PROBE)
"""What a runner may be."""

ENTRY_POINTS = "trialrun.verification.runners"


class Runner(Struct, frozen=True, kw_only=True):
    """One program that checks something, and how it is called."""

    name: str
    kind: str
    commands: tuple[str, ...]
    languages: tuple[str, ...] = ()  # keys of `LANGUAGES`; none: whatever the project holds
    needs: tuple[str, ...] = ()  # one of these options makes it a check (`--check`)
    endless: tuple[str, ...] = ()  # with one of these it never ends (`--watch`)
    ends_with: tuple[str, ...] = ()  # and with one of these it ends after all (`--run`)
    passed: tuple[str, ...] = ()  # patterns for its output, tried before the common ones
    failed: tuple[str, ...] = ()
    nothing: tuple[str, ...] = ()
    takes_paths: bool = True  # its plain arguments are paths
    also: tuple[Runner, ...] = ()  # further checks that the same command runs


_ENDINGS = {
    "python": "py pyi pyx ipynb",
    "javascript": "js jsx ts tsx mjs cjs mts cts vue svelte astro css scss less html",
    "go": "go mod", "rust": "rs", "jvm": "java kt kts scala groovy",
    "dotnet": "cs fs vb csproj sln razor cshtml", "ruby": "rb erb rake gemspec haml",
    "php": "php twig blade", "c": "c h cc cpp cxx hpp hh m mm", "swift": "swift",
    "elixir": "ex exs heex", "dart": "dart", "shell": "sh bash zsh bats",
    "powershell": "ps1 psm1 psd1", "r": "r rmd", "julia": "jl", "lua": "lua", "perl": "pl pm t",
    "haskell": "hs", "ocaml": "ml mli", "erlang": "erl hrl", "clojure": "clj cljs cljc",
    "zig": "zig", "nim": "nim", "crystal": "cr", "solidity": "sol", "fortran": "f90 f95 f",
    "godot": "gd tscn", "sql": "sql", "terraform": "tf tfvars hcl",
    "docs": "md rst txt adoc mdx org tex",
    "markup": "yaml yml toml ini cfg json env conf properties xml lock",
    "proto": "proto graphql gql prisma",
}  # fmt: skip
LANGUAGES: dict[str, frozenset[str]] = {
    name: frozenset(endings.split()) for name, endings in _ENDINGS.items()
}
"""The endings of the files of each language."""
_LANGUAGE_OF = {ending: name for name, endings in LANGUAGES.items() for ending in endings}


def language_of(path: str) -> str | None:
    """The language of a file by its name, or None."""
    base = path.rpartition("/")[2].lower()
    if base in ("dockerfile", "containerfile") or base.startswith("dockerfile."):
        return "docker"
    if base in ("makefile", "justfile", "cmakelists.txt", "rakefile", "gemfile", "procfile"):
        return "markup"
    _, dot, ending = base.rpartition(".")
    return _LANGUAGE_OF.get(ending) if dot else None


@cache
def _ours() -> tuple[Runner, ...]:
    """The rows of the catalogue."""
    text = re.sub(r"\n\s+", " ", "\n".join(lines_of("runners.txt")))
    return tuple(runner for row in text.splitlines() for runner in _runners(row))


def _runners(row: str) -> Iterator[Runner]:
    """`test | go |  | go test = go test; gotestsum` is one runner, `lint | | | a; b | c` three."""
    kind, languages, options, *commands = (part.strip() for part in row.split(" | "))
    given = dict(option.partition("=")[::2] for option in options.split())

    def listed(name: str) -> tuple[str, ...]:
        value = given.get(name, "")
        return ("",) if value == "*" else tuple(value.split(",")) if value else ()

    for name, equals, several in (one.partition(" = ") for one in commands):
        texts = [text.strip() for text in (several if equals else name).split(";")]
        for some in [texts] if equals else [[text] for text in texts]:
            yield Runner(
                name=name.strip() if equals else some[0],
                kind=kind,
                commands=tuple(some),
                languages=tuple(one for one in languages.split(",") if one),
                needs=listed("needs"),
                endless=listed("endless"),
                ends_with=listed("ends"),
                takes_paths="nopaths" not in given,
            )


# The words in the name of a task (`make lint`, `npm run test:unit`, `gradle :app:check`).
_TASKS = {kind: frozenset(several) for kind, several in group("task").items()}
_CHECKS = (TYPES, LINT, TEST, BUILD, FORMAT)
"""The kinds of tasks; of a name with words of several, the first counts."""
_WORDS = lazy_pattern(r"[a-z0-9]+")


def kind_of_target(target: str) -> tuple[str | None, bool]:
    """What a task is for by its name, and whether it never ends; "service" is a deployment."""
    lowered = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", target).lower()
    words = set(_WORDS.findall(lowered)) | {lowered.rpartition(":")[2]}
    endless = bool(words & {"watch", "dev"}) or words <= _TASKS["endless"]
    for kind in ("service", "data"):
        if words & _TASKS[kind]:
            return kind, False
    if {"type", "check"} <= words or {"check", "types"} <= words:
        return TYPES, endless
    for kind in _CHECKS:
        if words & _TASKS[kind]:
            return FORMAT if kind == TEST and words & _TASKS[FORMAT] else kind, endless
    return None, endless


@cache
def _others() -> tuple[Runner, ...]:
    """The runners of other packages, by entry point."""
    from trialrun.errors import PluginError, crash
    from trialrun.util.entry_points import entry_points

    found: list[Runner] = []
    for point in entry_points(ENTRY_POINTS):
        source = f"runners of {point.value}"
        try:
            made = point.load()
            made = made() if callable(made) else made
            rows = (made,) if isinstance(made, Runner) else tuple(made)
        except BaseException as error:
            raise PluginError(f"{source} cannot be loaded: {crash(error)}") from error
        for row in rows:
            wrong = _wrong_with(row)
            if wrong is not None:
                raise PluginError(f"{source}: {wrong}")
            found.append(row)
    return tuple(found)


def _wrong_with(row: object) -> str | None:
    """What is wrong with a row of a plug-in, if anything: it would never match."""
    if not isinstance(row, Runner):
        return f"{row!r} is not a Runner"
    if row.kind not in KINDS:
        return f"`{row.name}`: kind {row.kind!r}{did_you_mean(str(row.kind), KINDS)}"
    commands = row.commands
    if (
        isinstance(commands, str)
        or not commands
        or not all(isinstance(one, str) and one.split() for one in commands)
    ):
        return f"`{row.name}`: commands must be a tuple of texts, found {commands!r}"
    unknown = [language for language in row.languages if language not in LANGUAGES]
    if unknown:
        return f"`{row.name}`: language {unknown[0]!r}{did_you_mean(unknown[0], LANGUAGES)}"
    return None


Row = tuple[tuple[str, ...], Runner]


class Table:
    """All runners, found by the first word of a command. Custom ones come first."""

    def __init__(self, own: Sequence[Runner] = ()) -> None:
        self.rows: dict[str, list[Row]] = {}
        for runner in (*own, *_others(), *_ours()):
            for text in runner.commands:
                words = tuple(text.split())
                self.rows.setdefault(words[0], []).append((words, runner))
        for name, rows in self.rows.items():
            # The longest fit counts: `ruff format` is not `ruff`. Sorting keeps custom ones first.
            self.rows[name] = sorted(rows, key=lambda row: -len(row[0]))

    def find(self, words: Sequence[str]) -> tuple[Runner, list[str]] | None:
        """The runner that these words call, and the arguments that are left."""
        for wanted, runner in self.rows.get(words[0], ()):
            rest = _after(words, wanted)
            if rest is None:
                continue
            if runner.needs and not _has(rest, runner.needs):
                continue
            return runner, rest
        return None


def _has(rest: Sequence[str], options: Sequence[str]) -> bool:
    return any(
        word == option or word.startswith(option + "=") for word in rest for option in options
    )


def _after(words: Sequence[str], wanted: Sequence[str]) -> list[str] | None:
    """The words that are left without the wanted ones, in order; options may come between."""
    rest: list[str] = []
    position = 1
    for index, word in enumerate(words[1:], 1):
        if position == len(wanted):
            rest += words[index:]
            break
        if word == wanted[position]:
            position += 1
        elif word.startswith("-") or (rest and rest[-1].startswith("-") and "=" not in rest[-1]):
            rest.append(word)
        else:
            return None
    return rest if position == len(wanted) else None


@cache
def default_table() -> Table:
    """The table without anything from a spec."""
    return Table()
