"""What one program of a shell script does, by its name and arguments: nothing is run or looked up.

A program is *inert* (it only shows something), changes files, is a check, acts on something outside
of the files, or is not known. What is not known is never held against anybody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification import done as d
from trialrun.verification import tables
from trialrun.verification.done import Done, is_dry, plain_words
from trialrun.verification.facts import Sort
from trialrun.verification.git_commands import forge_does, git_does
from trialrun.verification.runners import Runner, Table, kind_of_target
from trialrun.verification.shell import Command
from trialrun.verification.sorts import sort_of

_INERT = frozenset(tables.words("inert"))
_READERS = frozenset(tables.words("readers"))
_DEPLOYS = [tuple(text.split()) for text in tables.words("deploys")]
_DEPLOYERS = frozenset(words[0] for words in _DEPLOYS)
_FORMATTERS = [tuple(text.split()) for text in tables.words("formatters")]
_INTERPRETERS = frozenset(tables.words("interpreters"))
_TASK_RUNNERS = frozenset(tables.words("task_runners"))
_SEVERAL_TASKS = frozenset(tables.words("several_tasks"))
_NOT_TASKS = frozenset(tables.words("not_tasks"))
_TOLERANT = tables.words("tolerant")
_SHOWING = frozenset(tables.words("showing"))
_PLACES = frozenset(tables.words("places"))
_FILTERS = frozenset(tables.words("filters"))
_VALUES = frozenset(tables.words("values"))
_ALONE = frozenset({"-race", "-v", "-s", "-q", "--cov", "--pretty"})
_ASKING = frozenset({"--version", "-V", "--help", "version", "help"})


def done_by(command: Command, table: Table) -> list[Done]:
    """What the program does. A program may do several things: `make lint test`."""
    words = _without_toolchain(command.words)
    name = command.name
    made = _file_changes(command, name, words)
    if name == "git":
        return made + git_does(command, words)
    if name in ("gh", "glab"):
        return made + forge_does(words)
    if len(made) > bool(command.writes):
        return made  # it writes files itself; `pytest > log` only prints into one
    if _is_deploy(name, words):
        act = Done(d.ACT, name, act="deploy", target=_target_of(words), dry=is_dry(words))
        return [*made, act]
    if _ASKING & set(words[1:3]) or "--help" in words:
        return [*made, Done(d.INERT, name)]
    found = table.find((name, *words[1:]))
    if found is not None:
        runner, rest = found
        return [*made, *(_checked(one, rest) for one in (runner, *runner.also))]
    if name in _TASK_RUNNERS:
        tasks = _tasks(name, _without_places(words[1:]), table)
        if tasks is not None:
            return made + tasks
    if name in table.rows and len(words) > 1 and name not in _INTERPRETERS:
        # `cargo tree`, `go mod tidy`: a known program that does something else than check.
        return [*made, Done(d.INERT if words[1] in _SHOWING else d.UNKNOWN, name)]
    others = _other(command, name, words, table)
    return made if made and others[0].kind in (d.INERT, d.READ) else made + others


def _without_toolchain(words: Sequence[str]) -> Sequence[str]:
    """`cargo +1.96.0 test` is `cargo test`."""
    chosen = words[0] == "cargo" and words[1:2] and words[1].startswith("+")
    return (words[0], *words[2:]) if chosen else words


def _without_places(words: Sequence[str]) -> list[str]:
    """Without options that say where a task runs: `pnpm --filter web test`, `mise --cd x run y`."""
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word not in _PLACES:
            kept.append(word)
        skip = not skip and word in _PLACES
    return kept


def _other(command: Command, name: str, words: Sequence[str], table: Table) -> list[Done]:
    if name in ("psql", "sqlite3", "mysql") and not _WRITES_DATA.search(" ".join(words)):
        return [Done(d.INERT, name)]
    if name == "find" and {"-delete", "-exec", "-execdir", "-ok"} & set(words):
        return [Done(d.UNKNOWN, name)]
    if name in ("bash", "sh", "zsh") and plain_words(words[1:]):
        return [
            Done(d.CHECK, name, paths=plain_words(words[1:])[:1], check="run", dry=is_dry(words))
        ]
    if _runs_unseen(name, words):
        return [Done(d.UNKNOWN, name)]
    if name in _READERS or name in _INERT or name.startswith(("$", "@", "}", "{")):
        return [_shown(name, words)]
    program = name.removesuffix(".exe")
    if program in _INTERPRETERS or re.fullmatch(r"python3\.\d+", program):
        found = table.find((words[1].rpartition("/")[2], *words[2:])) if len(words) > 1 else None
        if found is not None and "." in words[1]:  # `python manage.py test`
            return [_checked(*found)]
        return [_interpreted(command, program, words)]
    if len(words) > 2 and _starts(words[1], table):
        return done_by(replace(command, words=words[1:]), table)  # a wrapper: `rtk pytest -q`
    if words[0].startswith(("./", "../", "/", "~")) or name.endswith((".sh", ".py", ".ps1")):
        return [Done(d.CHECK, name, paths=(words[0],), check="run", dry=is_dry(words))]
    return [Done(d.UNKNOWN, name)]


def _starts(word: str, table: Table) -> bool:
    """Whether it is a program that a wrapper of any name may start."""
    return word == "git" or word in _TASK_RUNNERS or (word in table.rows and len(word) > 3)


def _shown(name: str, words: Sequence[str]) -> Done:
    """A program that only shows something; `pdm run test` is a task: the built-in has operands."""
    paths = plain_words(words[1:])
    if name == "test" and not paths:
        return _task("run", name, [*words[1:]])
    return Done(d.READ if name in _READERS else d.INERT, name, paths=paths)


def _runs_unseen(name: str, words: Sequence[str]) -> bool:
    """A script of the project that is read in (`source .env` sets values), or a program `$CMD`."""
    if name == "source":
        return sort_of(words[-1]) in (Sort.CODE, Sort.TEST)
    return name.startswith("$") and not _EXPRESSION.match(" ".join(words[:2]))


# PowerShell's `$x = 1`, `$env:PATH += …`, `$_.Name`, `$i++`.
_EXPRESSION = lazy_pattern(r"\$(?:env:|[\w:]+(?:[.,]|\+\+| ?[+-]?=))", re.IGNORECASE)
_WRITES_DATA = lazy_pattern(
    r"\b(?:insert|update|delete|drop|alter|create|truncate)\b|-f\b", re.IGNORECASE
)


def _interpreted(command: Command, name: str, words: Sequence[str]) -> Done:
    """`python script.py`, `node -e "…"`, `python - <<EOF`: a run of the files that it names."""
    inline = next((index for index, word in enumerate(words) if word in ("-c", "-e", "-p", "-")), 0)
    if inline or command.stdin is not None:
        code = words[inline + 1] if inline and inline + 1 < len(words) else ""
        code += command.stdin or ""
        if _WRITES_FILE.search(code):
            return Done(d.UNKNOWN, name)
        return Done(d.CHECK, name, paths=tuple(_FILE_IN_CODE.findall(code)[:20]), check="run",
                    target=code[:2000])  # fmt: skip
    files = [word for word in words[1:] if not word.startswith("-")][:1]
    return Done(d.CHECK, name, paths=tuple(files), check="run", dry=is_dry(words) or not files)


# A snippet that writes: open("tax.py", "w"), path.write_text(…), fs.writeFileSync(…)
_WRITES_FILE = lazy_pattern(r"""open\([^)]*["'][wax]b?\+?["']|write_(?:text|bytes)\(|writeFile""")
# The names of files in a snippet: open('.vscode/launch.json').
_FILE_IN_CODE = lazy_pattern(r"['\"]([\w./~-]+\.[A-Za-z]{1,5})['\"]")


def _checked(runner: Runner, rest: Sequence[str]) -> Done:
    paths, filters = arguments_of(rest, runner.takes_paths)
    endless = _given(rest, runner.endless) and not _given(rest, runner.ends_with)
    paths = tuple(path for path in paths if path not in runner.ends_with)
    if runner.kind == "probe":
        return Done(d.ACT, runner.name, act="probe", target=_target_of(rest))
    return Done(
        d.CHECK,
        runner.name,
        paths=() if paths in (("./...",), (".",), ("./",)) else paths,
        filters=filters,
        check=runner.kind,
        runner=runner,
        languages=runner.languages,
        tolerant=_given(rest, _TOLERANT),
        dry=is_dry(rest),
        endless=endless,
    )


def arguments_of(rest: Sequence[str], takes_paths: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths that a runner was given, and the words that pick a part of its tests."""
    paths: list[str] = []
    filters: list[str] = []
    skip = False
    for index, word in enumerate(rest):
        if skip:
            skip = False
            continue
        option, equals, value = word.partition("=")
        if word.startswith("-") and len(word) > 1:
            following = rest[index + 1] if index + 1 < len(rest) else ""
            if option in _FILTERS:
                filters.append(value if equals else following)
                skip = not equals
            elif option in ("--lf", "--last-failed", "--onlyChanged", "--changed"):
                filters.append(option)
            elif option in _VALUES and not equals and option not in _ALONE:
                skip = True
            continue
        if not takes_paths or "=" in word:
            continue
        path, _, test = word.partition("::")
        paths.append(path)
        if test:
            filters.append(test)
    return tuple(paths), tuple(filters)


def _tasks(name: str, rest: list[str], table: Table) -> list[Done] | None:
    """`npm run lint`, `make test`, `mise run check`: known by the words in the task's name."""
    plain = plain_words(rest)
    if name == "node":
        plain = tuple(rest[1:]) if rest[:1] == ["--run"] else ()
        if not plain:
            return None
    if not plain:
        return [Done(d.UNKNOWN, name)]
    if plain[0] in _NOT_TASKS and name not in ("make", "just", "task", "gmake"):
        return [Done(d.INERT, name)]
    if plain[0] in _CALLS_TASK and len(plain) > 1:
        plain = plain[1:]
    elif name == "bun" and "." in plain[0]:
        return None  # `bun script.ts`
    found = table.find(plain)
    if found is not None and _passes_on(name, plain[0], found[0]):
        return [_checked(*found)]
    return [_task(name, task, rest) for task in (plain if name in _SEVERAL_TASKS else plain[:1])]


_CALLS_TASK = frozenset({"run", "run-script", "exec", "x", "test:", "task"})


def _passes_on(name: str, task: str, runner: Runner) -> bool:
    """Whether the runner is meant, not a task of its name: `pnpm vitest`, `mise x -- pytest`."""
    if name in ("pnpm", "yarn", "bun"):
        return "javascript" in runner.languages
    return name in ("mise", "pixi") and len(task) > 4


def _task(name: str, task: str, rest: list[str]) -> Done:
    """One task, by the words in its name."""
    kind, endless = kind_of_target(task)
    label = f"{name} {task}"
    if kind == "service":
        return Done(d.ACT, label, act="deploy", target=task, dry=is_dry(rest))
    if kind in (None, "data"):
        return Done(d.UNKNOWN, label)
    return Done(
        d.CHECK,
        label,
        check=kind,
        filters=_filters(rest),
        endless=endless,
        dry=is_dry(rest) or (name in ("make", "gmake") and "-n" in rest),
        tolerant=_given(rest, _TOLERANT),
    )


def _filters(rest: Sequence[str]) -> tuple[str, ...]:
    """What comes behind `--`, and values of `--filter`: the task is run on a part."""
    extra = rest[rest.index("--") + 1 :] if "--" in rest else []
    chosen = [word for word in rest if word.startswith(("--filter=", "-F="))]
    chosen += [
        rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("--filter", "-F", "-t")
    ]
    return (*(word for word in extra if not word.startswith("-")), *chosen)


def _file_changes(command: Command, name: str, words: Sequence[str]) -> list[Done]:
    """Files that the program writes, deletes or moves; redirections included."""
    made = [Done(d.WRITE, name, paths=command.writes)] if command.writes else []
    plain = plain_words(words[1:])
    if name in ("tee", "Set-Content", "Out-File", "Add-Content") and plain:
        made.append(Done(d.WRITE, name, paths=plain[:1]))
    elif name in ("chmod", "chown") and len(plain) > 1:
        made.append(Done(d.MODE, name, paths=plain[1:]))
    elif name in ("sed", "gsed", "awk", "gawk", "perl", "ruby", "yq") and _in_place(words):
        made.append(Done(d.WRITE, name, paths=_edited_files(words)))
    elif name in ("rm", "unlink", "Remove-Item") and plain:
        made.append(Done(d.DELETE, name, paths=plain))
    elif name in ("mv", "Move-Item") and len(plain) > 1:
        made.append(Done(d.MOVE, name, paths=plain))
    elif name in ("cp", "Copy-Item", "ln", "install") and len(plain) > 1:
        made.append(Done(d.WRITE, name, paths=plain[-1:]))
    elif name in ("patch", "truncate", "ed"):
        made.append(Done(d.WRITE, name, paths=plain) if plain else Done(d.TREE, name))
    elif name in _SAVES and (saved := _saved_to(name, words)):
        made.append(Done(d.WRITE, name, paths=(saved,)))
    elif _formats(name, words):
        made.append(Done(d.FORMAT_WRITE, name, paths=plain))
    return made


_SAVES = {"curl": "o", "wget": "O", "sort": "o"}
"""Programs that show something, and the letter of the option by which they write it into a file."""


def _saved_to(name: str, words: Sequence[str]) -> str:
    """The file that the output goes to; of `wget URL`, the last part of the address."""
    for index, word in enumerate(words[1:], 1):
        found = re.fullmatch(
            rf"-[a-zA-Z]*?{_SAVES[name]}(.*)|--output(?:-document)?(?:=(.*))?", word
        )
        if found is not None:
            given = found.group(1) or found.group(2) or "".join(words[index + 1 : index + 2])
            return "" if given in ("-", "/dev/null", "/dev/stdout") else given
    plain = plain_words(words[1:])
    return plain[-1].rpartition("/")[2] if name == "wget" and plain else ""


def _in_place(words: Sequence[str]) -> bool:
    return any(re.fullmatch(r"-[a-zA-Z0-9]*i.*|--in-place.*", word) for word in words[1:4])


def _edited_files(words: Sequence[str]) -> tuple[str, ...]:
    """The files of `sed -i '' 's/a/b/' f`: plain words behind the script."""
    rest = [word for word in words[1:] if word != ""]
    given = any(
        word in ("-e", "-f", "-pe", "-ne", "-0pe", "-0pi") or re.fullmatch(r"-\w*e", word)
        for word in rest
    )
    plain: list[str] = []
    skip = False
    for word in rest:
        if skip or word.startswith("-"):
            skip = not skip and bool(re.fullmatch(r"-\w*[ef]", word))
            continue
        plain.append(word)
    return tuple(plain if given else plain[1:])


def _formats(name: str, words: Sequence[str]) -> bool:
    """Whether the program rewrites files by the rules of a formatter or a fixer."""
    given = set(words)
    if given & {"--check", "--diff", "-l", "-d", "--check-formatted", "--verify-no-changes"}:
        return False
    return any(row[0] == name and given.issuperset(row[1:]) for row in _FORMATTERS)


def _is_deploy(name: str, words: Sequence[str]) -> bool:
    if name not in _DEPLOYERS:
        return False
    rest = [name, *words[1:]]
    return any(_in_order(row, rest) for row in _DEPLOYS if row[0] == name)


def _in_order(row: Sequence[str], words: Sequence[str]) -> bool:
    remaining = iter(words)
    return all(word in remaining for word in row)


def _target_of(words: Sequence[str]) -> str:
    """The host of the address that is called, or the last plain word."""
    for word in words:
        found = re.search(r"https?://([^/\s:]+(?::\d+)?)|\b(localhost:\d+|127\.0\.0\.1:\d+)", word)
        if found:
            return found.group(1) or found.group(2)
    plain = plain_words(words)
    return plain[-1] if plain else ""


def _given(rest: Sequence[str], options: Sequence[str]) -> bool:
    if not options:
        return False
    given = {*rest, *(word.partition("=")[0] for word in rest)}
    return "" in options or not given.isdisjoint(options)
