"""What the tasks of a project do, by its own files: package.json, Makefile, justfile, mise, tox.

A task whose name says what it is for (`make test`) needs none of this. Of one with another name
(`npm run preflight`) the body is read: where it runs checks that are known, and shows their status,
the task becomes these checks. Nothing is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.commands import done_by
from trialrun.verification.done import CHECK, INERT, READ, UNKNOWN, Done
from trialrun.verification.runners import Runner, Table, kind_of_target
from trialrun.verification.shell import parse
from trialrun.verification.wrappers import unwrapped

MOST_BYTES = 1_000_000
MOST_TASKS = 500
_DEEPEST = 4  # a task calls another one

Tasks = dict[str, list[str]]
"""The body of each task, by the command that calls it: `make preflight` → its lines."""


def task_runners(folder: Path, table: Table) -> list[Runner]:
    """A row for each task of the folder that no name explains and that runs known checks."""
    tasks: Tasks = {}
    for name, read in _READERS.items():
        text = _text(folder / name)
        if text is not None:
            tasks |= dict(list(read(text).items())[:MOST_TASKS])
    rows = []
    for call in tasks:
        if kind_of_target(call.rpartition(" ")[2]) == (None, False):
            found = _checks(tasks[call], tasks, table, 0)
            if found:
                rows.append(_row(call, found))
    return rows


def _text(file: Path) -> str | None:
    try:
        if file.stat().st_size > MOST_BYTES:
            return None
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _row(call: str, checks: Sequence[Done]) -> Runner:
    rows = [
        Runner(
            name=call,
            kind=done.check,
            commands=_spellings(call),
            languages=done.languages,
            passed=done.runner.passed if done.runner else (),
            failed=done.runner.failed if done.runner else (),
            nothing=done.runner.nothing if done.runner else (),
        )
        for done in checks
    ]
    return replace(rows[0], also=tuple(rows[1:]))


def _spellings(call: str) -> tuple[str, ...]:
    """The ways to call a task: `npm run x` is `pnpm x` and `yarn x`, too."""
    program, _, task = call.partition(" ")
    if program == "npm":
        runs = tuple(f"{name} run {task}" for name in ("npm", "pnpm", "yarn", "bun"))
        return (*runs, f"npm run-script {task}", f"pnpm {task}", f"yarn {task}")
    if program == "make":
        return (call, f"gmake {task}")
    if program == "mise":
        return (f"mise run {task}", f"mise r {task}", call)
    return (call,)


def _checks(lines: Sequence[str], tasks: Tasks, table: Table, depth: int) -> list[Done]:
    """The checks that a body runs, one of each kind; none where something in it is unclear.

    Unclear is a program that is not known, a hidden status, and a run of a part.
    """
    found: dict[str, Done] = {}
    for line in lines:
        script = parse(line)
        for command in script.commands:
            for inner in unwrapped(command):
                nested = _nested(inner.words, tasks) if depth < _DEEPEST else None
                if nested is not None:
                    done = _checks(nested, tasks, table, depth + 1)
                    if not done:
                        return []
                else:
                    done = done_by(inner, table)
                    if not inner.shown or not script.sound or any(map(_is_unclear, done)):
                        return []
                found |= {one.check: one for one in done if one.kind == CHECK}
    return list(found.values())


def is_task_file(base: str) -> bool:
    """Whether a file of that name, in lower case, may hold tasks."""
    return base in _NAMES


def printing_tasks(file: str, text: str, table: Table) -> dict[str, bool]:
    """Whether each task in a file, or in a piece of one, does nothing but print."""
    read = _READERS.get(file)
    tasks = read(text) if read is not None else {}
    if file == "package.json" and not tasks:
        tasks = {f"npm {name}": [body] for name, body in _SCRIPT.findall(text)}
    return {
        _called(call): bool(body) and all(_prints(line, table) for line in body)
        for call, body in tasks.items()
    }


_SCRIPT = lazy_pattern(r'"([\w:-]+)"\s*:\s*"((?:[^"\\]|\\.)*)"')  # "test": "echo ok"


def is_called_like(label: str, tasks: Mapping[str, bool]) -> bool:
    """Whether the task of that name (`yarn test`) is one of these that only print."""
    return bool(tasks) and tasks.get(_called(label), False)


def _called(call: str) -> str:
    """`npm test` for `pnpm test` and its like."""
    program, _, task = call.partition(" ")
    return f"{_SAME.get(program, program)} {task}"


_SAME = {"pnpm": "npm", "yarn": "npm", "bun": "npm", "gmake": "make"}


def _prints(line: str, table: Table) -> bool:
    programs = [inner for command in parse(line).commands for inner in unwrapped(command)]
    kinds = {done.kind for inner in programs for done in done_by(inner, table)}
    return kinds <= {INERT, READ}


def _is_unclear(done: Done) -> bool:
    if done.kind == CHECK:
        partial = bool(done.filters) or any(re.search(r"\.\w+$|\*", path) for path in done.paths)
        return done.check == "run" or partial or done.tolerant or done.dry or done.endless
    return done.kind == UNKNOWN or done.kind not in (INERT, READ)


def _nested(words: Sequence[str], tasks: Tasks) -> list[str] | None:
    """The body of the task that these words call, if its name does not say what it does."""
    plain = [word for word in words if not word.startswith("-")]
    for call, body in tasks.items():
        is_called = any(spelling.split() == plain for spelling in _spellings(call))
        if is_called and kind_of_target(call.rpartition(" ")[2])[0] is None:
            return body
    return None


# The files


def _package_json(text: str) -> Tasks:
    try:
        scripts = json.loads(text).get("scripts")
    except (ValueError, AttributeError, RecursionError):
        return {}
    if not isinstance(scripts, dict):
        return {}
    return {f"npm {name}": [body] for name, body in scripts.items() if isinstance(body, str)}


# "preflight: lint test", "preflight lint:"; not "VAR := x", not ".PHONY:", not "%.o: %.c"
_TARGET = lazy_pattern(r"^(?P<names>[A-Za-z0-9][\w. -]*?)\s*:(?![:=])(?P<needs>[^=#]*)(?:#.*)?$")


def _makefile(text: str) -> Tasks:
    tasks: Tasks = {}
    current: list[list[str]] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            body = line.strip().lstrip("@-+ ")
            ignored = line.strip().startswith("-")  # make goes on after a failure
            for lines in current:
                lines.append(f"{body} || true" if ignored else body)
            continue
        found = _TARGET.match(line)
        if found is None:
            current = [] if line.strip() and not line.startswith("#") else current
            continue
        names = found["names"].split()
        current = [tasks.setdefault(f"make {name}", []) for name in names]
        for lines in current:
            lines += [f"make {need}" for need in found["needs"].split()]
    return tasks


# "preflight target='x': lint test", "@preflight: lint"
_RECIPE = lazy_pattern(r"^@?(?P<name>[A-Za-z_][\w-]*)(?:\s+[^:]*)?:(?!=)(?P<needs>.*)$")


def _justfile(text: str) -> Tasks:
    tasks: Tasks = {}
    current: list[str] | None = None
    for line in text.replace("\\\n", " ").splitlines():
        if line[:1] in (" ", "\t"):
            body = line.strip().lstrip("@")
            if current is not None and body:
                current.append(f"{body[1:]} || true" if body.startswith("-") else body)
            continue
        found = _RECIPE.match(line)
        if found is not None:
            current = tasks.setdefault(f"just {found['name']}", [])
            current += [f"just {need}" for need in found["needs"].split() if need != "&&"]
        elif line.strip() and not line.startswith("#"):
            current = None
    return tasks


def _mise(text: str) -> Tasks:
    import tomllib

    try:
        given = tomllib.loads(text).get("tasks")
    except (ValueError, RecursionError):
        return {}
    return dict(_mise_tasks(given)) if isinstance(given, dict) else {}


def _mise_tasks(given: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for name, task in given.items():
        body = task.get("run") if isinstance(task, dict) else task
        needs = task.get("depends") if isinstance(task, dict) else None
        lines = [f"mise run {one}" for one in _texts(needs)]
        yield f"mise {name}", [*lines, *_texts(body)]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _tox(text: str) -> Tasks:
    from configparser import ConfigParser
    from configparser import Error as ConfigError

    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except ConfigError:
        return {}
    tasks: Tasks = {}
    for section in parser.sections():
        if section.startswith("testenv") and parser.has_option(section, "commands"):
            name = section.partition(":")[2]
            lines = [line.strip() for line in parser.get(section, "commands").splitlines()]
            body = [line.replace("{posargs}", "") for line in lines if line]
            tasks[f"tox -e {name}" if name else "tox"] = [
                f"{line[1:]} || true" if line.startswith("-") else line for line in body
            ]
    return tasks


_READERS = {
    "package.json": _package_json,
    "Makefile": _makefile,
    "makefile": _makefile,
    "justfile": _justfile,
    "Justfile": _justfile,
    "mise.toml": _mise,
    ".mise.toml": _mise,
    "tox.ini": _tox,
}
_NAMES = frozenset(name.lower() for name in _READERS)
