"""Programs that put code in order, and those that make files from a template.

Both say what they changed. A fixer that says nothing of the kind has changed nothing that anybody
would notice; one that rewrote files after the tests leaves runs of a text that is no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Report
from trialrun.verification.programs.making import make_deed
from trialrun.verification.shell import Command

FIXED = Report(
    something=re.compile(
        r"\b[1-9]\d* files? (?:were |was |have been |has been )?(?:re)?(?:formatted|changed|modified|fixed|updated)\b"
        r"|\b[1-9]\d* (?:errors?|problems?|offenses?|issues?|violations?|warnings?|fixes) (?:were |was |have been )?(?:auto-?)?(?:fixed|corrected|applied)\b"
        r"|\(\s*[1-9]\d* fixed\b|\bFixed [1-9]\d* (?:errors?|files?|issues?)|\[Corrected\]|files were modified by this hook",
        re.IGNORECASE,
    ),
    names=re.compile(
        r"^[ \t]*(?:reformatted |Fixing |Fixed |(?=\S+ \d+m?s$))(\S+\.\w{1,6})(?= \d+m?s$| \(\d+ fix|$)",
        re.MULTILINE,
    ),
    silent=False,
)


class Fixer(Struct, frozen=True):
    """How a program is called that rewrites code."""

    needs: frozenset[str] = frozenset()  # one of these options makes it write
    unless: frozenset[str] = frozenset()  # one of these makes it print only
    language: str | None = None


def _f(language: str | None = None, needs: str = "", unless: str = "") -> Fixer:
    return Fixer(frozenset(needs.split()), frozenset(unless.split()), language)


_FIXERS: dict[tuple[str, ...], Fixer] = {
    ("black",): _f("python", unless="--check --diff"),
    ("ruff", "format"): _f("python", unless="--check --diff"),
    ("ruff",): _f("python", needs="--fix --fix-only"),
    ("isort",): _f("python", unless="--check --check-only -c --diff"),
    ("autopep8",): _f("python", needs="-i --in-place"),
    ("autoflake",): _f("python", needs="-i --in-place"),
    ("yapf",): _f("python", needs="-i --in-place"),
    ("prettier",): _f(needs="--write -w"),
    ("eslint",): _f("javascript", needs="--fix"),
    ("next", "lint"): _f("javascript", needs="--fix"),
    ("oxlint",): _f("javascript", needs="--fix"),
    ("standard",): _f("javascript", needs="--fix"),
    ("stylelint",): _f("javascript", needs="--fix"),
    ("biome",): _f("javascript", needs="--write --apply --fix"),
    ("deno", "fmt"): _f("javascript", unless="--check"),
    ("rubocop",): _f("ruby", needs="-a -A -x --autocorrect --autocorrect-all --auto-correct"),
    ("standardrb",): _f("ruby", needs="--fix"),
    ("gofmt",): _f("go", needs="-w"),
    ("goimports",): _f("go", needs="-w"),
    ("gofumpt",): _f("go", needs="-w"),
    ("golangci-lint",): _f("go", needs="--fix"),
    ("cargo", "fmt"): _f("rust", unless="--check"),
    ("cargo", "fix"): _f("rust"),
    ("cargo", "clippy"): _f("rust", needs="--fix"),
    ("rustfmt",): _f("rust", unless="--check"),
    ("clang-format",): _f("c", needs="-i"),
    ("shfmt",): _f("shell", needs="-w"),
    ("terraform", "fmt"): _f("terraform", unless="-check --check"),
    ("mix", "format"): _f("elixir", unless="--check-formatted"),
    ("dotnet", "format"): _f("dotnet", unless="--verify-no-changes"),
    ("php-cs-fixer", "fix"): _f("php", unless="--dry-run"),
    ("phpcbf",): _f("php"),
    ("swiftformat",): _f("swift", unless="--lint"),
    ("ktlint",): _f("jvm", needs="-F --format"),
    ("sqlfluff", "fix"): _f("sql"),
    ("markdownlint",): _f("docs", needs="--fix"),
    ("pre-commit", "run"): _f(),
}
_NAMES = frozenset(words[0] for words in _FIXERS)


def fix_files(command: Command, words: Sequence[str]) -> Iterator[Deed]:
    """The change that a fixer makes, if its output reports one; nothing for any other program."""
    if words[0] not in _NAMES:
        return
    verb = next((word for word in words[1:] if not word.startswith("-")), "")
    fixer = _FIXERS.get((words[0], verb)) or _FIXERS.get((words[0],))
    options = {word.partition("=")[0] for word in words[1:]}
    if fixer is None or (fixer.needs and not fixer.needs & options) or fixer.unless & options:
        return
    by = f"{words[0]} {verb}" if (words[0], verb) in _FIXERS else words[0]
    yield fix_deed(command, by, words[1:], fixer.language)


def fix_deed(
    command: Command, by: str, words: Sequence[str] = (), language: str | None = None
) -> Deed:
    """A change that takes place as far as the output says so."""
    places = [word for word in words if "/" in word or re.search(r"\w\.\w{1,6}$", word)]
    paths = tuple(
        place if re.search(r"\.\w{1,6}$", place) else place.rstrip("/") + "/"
        for place in places
        if not place.startswith("-") and place not in (".", "./") and "*" not in place
    )
    languages = frozenset({language}) if language is not None else frozenset()
    return make_deed(d.EDIT, command, by=by, paths=paths, languages=languages, report=FIXED)


_GENERATORS = re.compile(
    r"(?:manage\.py|django-admin) (?:makemigrations|startapp)|(?:alembic|flask db) (?:\S+ \S+ )?(?:revision|migrate)\b"
    r"|(?:rails|hanami|ng|nest|nx|plop|hygen|yo) (?:g|generate)\b|artisan make:\w+|mix \w+\.gen\b"
    r"|typeorm migration:(?:generate|create)|knex migrate:make|sequelize(?:-cli)? (?:migration|model|seed):(?:generate|create)"
    r"|(?:dbmate|migrate|goose|diesel migration|sqlx migrate) (?:.* )?(?:new|create|add|generate)\b"
)
_GENERATOR_NAMES = frozenset(
    "manage.py django-admin alembic flask rails hanami ng nest nx plop hygen yo artisan mix typeorm knex sequelize"
    " sequelize-cli dbmate migrate goose diesel sqlx".split()
)
_MADE = Report(
    names=re.compile(
        r"^[ \t]*(?:(?:\* )?creat(?:e|ing|ed)\s+(?:migrations?\S*\s+)?|force\s+|insert\s+|update\s+|generating\s+|new migration was created at\s+|migration\s+(?=/)|(?:info\s+)?\w+ \[|[ \t](?=\S*migrations/))"
        r"(\S+?\.\w{1,6})(?=\]|\s|$)",
        re.MULTILINE | re.IGNORECASE,
    ),
    silent=False,
)


def generated(command: Command, words: Sequence[str]) -> Iterator[Deed]:
    """The files that a generator reports: they are new, and nobody has looked at them."""
    if words[0] in _GENERATOR_NAMES and not {"--check", "--dry-run", "--pretend"} & set(words):
        text = " ".join(words)
        if _GENERATORS.search(text):
            by = " ".join(words[:2])
            yield make_deed(d.EDIT, command, by=by, report=_MADE)
