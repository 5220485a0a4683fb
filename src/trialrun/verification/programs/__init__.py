"""What a program of a shell script does: reads, writes, tries out, changes a service or data.

Anything that is not known here does nothing that could count as evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed
from trialrun.verification.paths import is_fleeting
from trialrun.verification.programs.databases import DATABASES, ask_database, ask_redis
from trialrun.verification.programs.files import (
    READERS,
    SEARCHERS,
    apply_patch,
    compare_files,
    copy_files,
    list_files,
    move_files,
    read_files,
    remove_files,
    run_awk,
    run_perl,
    run_sed,
    search_files,
    write_files,
)
from trialrun.verification.programs.fixers import fix_files, generated
from trialrun.verification.programs.git import run_git
from trialrun.verification.programs.making import make_deed, moved, without_globals
from trialrun.verification.programs.operations import (
    SERVICE_COMMANDS,
    change_service,
    migrate,
)
from trialrun.verification.programs.own import (
    INTERPRETERS,
    PYTHONS,
    interpreted_program,
    run_interpreted,
    run_own,
    run_python,
)
from trialrun.verification.programs.publishing import publish
from trialrun.verification.programs.requests import probe_service
from trialrun.verification.programs.trials import TARGET_RUNNERS, run_sbt, run_targets, run_trial
from trialrun.verification.programs.writers import WRITERS
from trialrun.verification.runners import Table, default_table, language_of
from trialrun.verification.shell import Command
from trialrun.verification.wrappers import unwrapped


def is_program(name: str) -> bool:
    """Whether a word is the name of a program that is known here, and not just any word."""
    return name in PROGRAMS or name in TARGET_RUNNERS or name in default_table().rows


def deeds_of(command: Command, table: Table) -> Iterator[Deed]:
    """All that the command does, wrappers taken off."""
    for one in unwrapped(command):
        for deed in deeds_of_one(one, table):
            yield _behind_filters(deed) if one.piped_into else deed


_PARTS = frozenset("head tail sed awk grep egrep fgrep rg cut".split())
_COUNTS = frozenset("wc md5sum sha256sum shasum cksum".split())


def _behind_filters(deed: Deed) -> Deed:
    """`cat a.py | head -5` shows a part of the file, and `cat a.py | wc -l` nothing of it."""
    if deed.kind not in (d.READ, d.DIFF) or deed.command is None:
        return deed
    names = {words[0] for words in deed.command.piped_into}
    if names & _COUNTS:
        # A count says something about data or prose, and little about code.
        code = any(language_of(path) not in (None, "docs") for path in deed.paths)
        return replace(deed, partly=False, sees_names_only=code or not deed.paths)
    return replace(deed, partly=True) if names & _PARTS else deed


def deeds_of_one(command: Command, table: Table) -> Iterator[Deed]:
    words = command.words
    for path in command.writes:
        if not is_fleeting(path):
            content = command.stdin if command.name in ("cat", "tee") else None
            yield make_deed(d.EDIT, command, paths=(path,), content=content)
    name = command.name
    # `-` between the program and its subcommand: npm --prefix web test, git -C api diff.
    plain, folder, package = without_globals(name, words)
    if folder is not None:
        command = moved(command, folder)
    called_as = (name, *plain[1:])
    made = tuple(generated(command, called_as)) or tuple(publish(command, called_as))
    if made:
        yield from made
        return
    yield from fix_files(command, called_as)
    found = table.find(called_as)
    program = PROGRAMS.get(name)
    if found is not None:
        runner, rest = found
        if runner.kind == d.PROBE:
            yield from probe_service(command, runner, [name, *words[1:]])
        else:
            yield replace(run_trial(command, runner, rest), package=package)
    elif name in TARGET_RUNNERS:
        for deed in run_targets(command, plain, name, table):
            yield replace(deed, package=package or deed.package)
    elif (inner := interpreted_program(name, plain, table)) is not None:
        yield from deeds_of(replace(command, words=inner), table)
    elif program is not None:
        # A service is known by its options too (`kubectl -n`), a file program by its plain words.
        yield from program(command, list(words) if program is change_service else plain)
    else:
        yield from run_own(command, plain)


PROGRAMS: dict[str, Callable[[Command, list[str]], Iterator[Deed]]] = {
    **dict.fromkeys(READERS, read_files),
    **dict.fromkeys(SEARCHERS, search_files),
    **WRITERS,
    **{name: change_service for name, _ in SERVICE_COMMANDS},
    **dict.fromkeys(("alembic", "prisma", "manage.py", "rails", "rake", "flyway", "knex", "sequelize", "sequelize-cli", "liquibase", "dbmate", "goose", "migrate", "typeorm", "drizzle-kit", "artisan", "mix", "sqlx", "diesel", "atlas", "dbt", "supabase", "hasura", "flask", "django-admin"), migrate),
    **dict.fromkeys(DATABASES, ask_database),
    "redis-cli": ask_redis,
    **dict.fromkeys(PYTHONS, run_python),
    **dict.fromkeys(INTERPRETERS, run_interpreted),
    "sed": run_sed,
    "gsed": run_sed,
    "perl": run_perl,
    "awk": run_awk,
    "gawk": run_awk,
    "tee": write_files,
    "sponge": write_files,
    "mv": move_files,
    "cp": copy_files,
    "install": copy_files,
    "scp": copy_files,
    "rsync": copy_files,
    "rm": remove_files,
    "unlink": remove_files,
    "ls": list_files,
    "find": list_files,
    "fd": list_files,
    "tree": list_files,
    "diff": compare_files,
    "colordiff": compare_files,
    "cmp": compare_files,
    "patch": apply_patch,
    "sbt": run_sbt,
    "git": run_git,
}  # fmt: skip
