"""What a tool call does, by what the tool is for and not by one vendor's names.

A spec may say it for one's own tools, and then it holds; else `tool_kinds.py` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from trialrun.model.trace import Step
from trialrun.verification import deeds as d
from trialrun.verification import tool_kinds as kinds
from trialrun.verification.arguments import (
    HOST_KEYS,
    Arguments,
    asks_for_part,
    by_name,
    command_of,
    content_of,
    exchanged,
    folder_of,
    paths_of,
    text_of,
    words_of,
)
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.patches import patched_files
from trialrun.verification.paths import is_fleeting
from trialrun.verification.programs import deeds_of
from trialrun.verification.python_code import deeds_of_code
from trialrun.verification.runners import Table, default_table
from trialrun.verification.services import service_of
from trialrun.verification.settings import OwnTools
from trialrun.verification.shell import Command, Script, parse
from trialrun.verification.sql import statement_kind
from trialrun.verification.values import safe_text
from trialrun.verification.wording import ENDINGS
from trialrun.verification.wrappers import script_of


class Reader:
    """Goes through the calls of one trace; knows what one call leaves for the next."""

    def __init__(self, own: OwnTools | None = None, table: Table | None = None) -> None:
        self.table = table or default_table()
        self.own: dict[str, str] = {}
        for kind, names in (
            (kinds.EDITS, own.edits if own else ()),
            (kinds.READS, own.reads if own else ()),
            (kinds.RUNS, own.runs if own else ()),
        ):
            self.own.update(dict.fromkeys(names, kind))
        self.folder: str | None = ""
        self.opened: str | None = None  # SWE-agent edits the file that is open
        self.sound = True
        self.said: tuple[str, ...] = ()  # what the script of this call prints by itself
        # A session runs one command many times, and many scripts begin with the same `cd`.
        self.known: dict[Command, tuple[Deed, ...]] = {}
        self.scripts: dict[tuple[str, str | None], Script] = {}
        self.read: dict[int, tuple[Script, tuple[Deed, ...], tuple[str, ...]]] = {}

    def deeds(self, step: Step) -> Sequence[Deed]:
        """What this call did, by its name and arguments alone."""
        self.sound = True
        self.said = ()
        name = step.tool_name or ""
        short = kinds.short_name(name)
        arguments = by_name(step.tool_args)
        kind = self.own.get(name) or self.own.get(short) or kinds.kind_of(short, arguments)
        read = _BY_KIND.get(kind)
        return tuple(read(self, short, arguments)) if read is not None else ()

    def _opened(self, by: str, arguments: Arguments) -> Iterator[Deed]:
        paths = paths_of(arguments)
        if paths:
            self.opened = paths[0]
        elif self.opened:
            paths = (self.opened,)
        yield Deed(d.READ, by=by, paths=paths, partly=asks_for_part(arguments))

    def _edit(self, by: str, arguments: Arguments) -> Iterator[Deed]:
        paths = paths_of(arguments)
        if not paths and self.opened:
            paths = (self.opened,)
        if by in ("create", "open") and paths:
            self.opened = paths[0]
        paths = tuple(path for path in paths if not is_fleeting(path))
        if not paths and paths_of(arguments):
            return
        new, old = exchanged(arguments)
        yield Deed(d.EDIT, by=by, paths=paths, content=content_of(arguments), new=new, old=old)

    def _editor(self, by: str, arguments: Arguments) -> Iterator[Deed]:
        verb = text_of(arguments, kinds.VERB_KEYS) or "view"
        paths = paths_of(arguments)
        if verb in kinds.SHOWING_VERBS:
            yield Deed(d.READ, by=f"{by} view", paths=paths, partly=asks_for_part(arguments))
        elif paths and not all(is_fleeting(path) for path in paths):
            new, old = exchanged(arguments)
            yield Deed(
                d.EDIT,
                by=f"{by} {verb}",
                paths=paths,
                content=content_of(arguments),
                new=new,
                old=old,
            )

    def _code(self, by: str, arguments: Arguments) -> Iterator[Deed]:
        code = text_of(arguments, ("code", "source", "script", "input", "command", "content")) or ""
        lines = code.splitlines()
        shell = [line.lstrip()[1:] for line in lines if line.lstrip().startswith(("!", "%sx "))]
        plain = "\n".join(line for line in lines if not line.lstrip().startswith(("!", "%")))
        if code.lstrip().startswith(("%%bash", "%%sh")):
            shell, plain = [code.partition("\n")[2]], ""
        for text in shell:
            yield from self._script(self._parsed(text, self.folder))
        if plain.strip():
            yield from deeds_of_code(plain, Command(("python",), self.folder))

    def _program(self, by: str, arguments: Arguments) -> Sequence[Deed]:
        return self._run(by, {**arguments, "command": f"{by} {words_of(arguments)}"})

    def _run(self, by: str, arguments: Arguments) -> Sequence[Deed]:
        command = command_of(arguments)
        if command is None:
            return ()
        start = folder_of(arguments)
        folder = start or self._folder_for(command)
        script = (
            self._parsed(command, folder)
            if isinstance(command, str)
            else _as_script(command, folder)
        )
        host = text_of(arguments, HOST_KEYS)
        self.sound = script.sound
        if (
            arguments.get("run_in_background")
            or arguments.get("is_background")
            or arguments.get("background")
        ):
            behind = [replace(one, background=True, shown=False) for one in script.commands]
            script = replace(script, commands=tuple(behind))
        if host and not host.startswith("/"):
            there = [replace(one, host=one.host or host) for one in script.commands]
            script = replace(script, commands=tuple(there))
        if start is None and by.lower() != "shell" and script.folder is not None:
            self.folder = script.folder
        return self._script(script)

    def _folder_for(self, command: str | list[str]) -> str | None:
        """Where a call starts: where the last one left the shell, if the tool keeps it.

        Whether it does is not on record. A call that begins with `cd web` means the project's
        folder, or `cd api` after it would lead to `web/api`.
        """
        text = command if isinstance(command, str) else command[-1] if command else ""
        return "" if _INTO_A_PART.match(text) else self.folder

    def _parsed(self, text: str, folder: str | None) -> Script:
        known = self.scripts.get((text, folder))
        if known is None:
            known = self.scripts[text, folder] = parse(text, folder)
        return known

    def _script(self, script: Script) -> Sequence[Deed]:
        self.sound = self.sound and script.sound
        known = self.read.get(id(script))
        if known is None:
            known = self.read[id(script)] = self._read(script)
        _, deeds, said = known
        self.said += said
        return deeds

    def _read(self, script: Script) -> tuple[Script, tuple[Deed, ...], tuple[str, ...]]:
        """The script itself, that its `id` stays its own; what it does; what it prints by itself."""
        deeds: list[Deed] = []
        said: list[str] = []
        for command in script.commands:
            if command.name == "apply_patch":
                text = command.words[1] if len(command.words) > 1 else command.stdin or ""
                deed = Deed(
                    d.EDIT,
                    by="apply_patch",
                    paths=tuple(patched_files(text)),
                    folder=command.folder,
                    command=command,
                    content=text,
                )
                deeds.append(deed)
            else:
                deeds += self._deeds_of(command)
                inner = script_of(command)
                if inner is not None:
                    said += self._said(parse(inner, command.folder))
        said += self._said(script)
        return script, tuple(deeds), tuple(said)

    def _deeds_of(self, command: Command) -> tuple[Deed, ...]:
        known = self.known.get(command)
        if known is None:
            known = self.known[command] = tuple(deeds_of(command, self.table))
        return known

    def _kinds(self, command: Command) -> frozenset[str]:
        return frozenset(deed.kind for deed in self._deeds_of(command))

    def _said(self, script: Script) -> Iterator[str]:
        """The lines that tell nothing of a run: `pytest && echo OK` does, unless others ran too."""
        if not script.said:
            return
        tried = {one.words: self._kinds(one) for one in script.commands}
        tests = {words for words, kinds in tried.items() if d.TEST in kinds}
        for line in script.said:
            behind = {one.words for one in line.behind}
            trial = any(tried.get(words, frozenset()) & d.TRIALS for words in behind)
            if not trial or tests - behind:
                yield line.text


def _as_script(words: list[str], folder: str | None) -> Script:
    """A command given as a list: a program and its arguments, or several lines."""
    if (
        len(words) > 1
        and any(" " in word for word in words)
        and not re.fullmatch(r"[\w./-]+", words[0])
    ):
        return parse("\n".join(words), folder)
    command = Command(tuple(words), folder)
    if command.name in ("bash", "sh", "zsh") and len(words) >= 3:
        return parse(words[-1], folder)
    return Script((command,), True, folder)


_INTO_A_PART = re.compile(r"\s*cd (?![./~$-])")


def _reads(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    yield Deed(d.READ, by=by, paths=paths_of(arguments), partly=asks_for_part(arguments))


def _patches(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    text = " ".join(str(value) for value in arguments.values() if isinstance(value, (str, list)))
    text = text if "\n" in text else text.replace("\\n", "\n")
    files = tuple(patched_files(text)) or paths_of(arguments)
    yield Deed(d.EDIT, by=by, paths=files, folder=folder_of(arguments), content=text)


def _deletes(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    yield Deed(d.REMOVE, by=by, paths=paths_of(arguments))


def _moves(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    source = text_of(arguments, ("source", "from", "old_path", "src"))
    target = text_of(arguments, ("destination", "to", "new_path", "dst", "dest"))
    if source and target:
        yield Deed(d.RENAME, by=by, paths=(target,), source=source)


def _searches(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    pattern = text_of(arguments, ("pattern", "regex", "query", "search_term", "search", "q"))
    yield Deed(d.SEARCH, by=by, paths=paths_of(arguments), content=pattern)


def _lists(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    yield Deed(d.LIST, by=by, paths=paths_of(arguments), sees_names_only=True)


def _probes(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    url = text_of(arguments, ("url", "uri", "endpoint", "address")) or ""
    command = Command(("curl", url))
    service = service_of(command, command.words) if url else Service()
    yield Deed(d.PROBE, by=by, service=service)


def _tests(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    yield Deed(d.TEST, by=by)


def _builds(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    yield Deed(d.BUILD, by=by)


def _looks_up(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    yield Deed(d.READ, by=by)


def _runs_notebook(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    yield Deed(d.RUN, by=by, paths=paths_of(arguments))


_TO_CHANGE = re.compile(
    r"\b(?:fix|implement|make|add|change|edit|update|split|refactor|rename|remove|delete|move|write|create|migrate|port|replace)\b",
    re.IGNORECASE,
)
_FILE = re.compile(rf"(?<![\w/.])(?:[\w@-]+/)*[\w-]+\.(?:{ENDINGS})\b")


def _delegates(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    """Another agent was told to change files: that they changed is known, and nothing else."""
    told = " ".join(value for value in arguments.values() if isinstance(value, str))
    if _TO_CHANGE.search(told):
        files = tuple(dict.fromkeys(_FILE.findall(told)))[:20]
        if files:
            yield Deed(d.EDIT, by=by, paths=files)


def _operated(arguments: Arguments) -> Service:
    name = text_of(
        arguments,
        ("service", "service_name", "app", "application", "deployment", "server", "package", "name", "release", "tag"),
    )  # fmt: skip
    number = next(
        (arguments[key] for key in ("pull_number", "pullnumber", "number") if key in arguments),
        None,
    )
    names = {name.lower()} if name else {f"pr {safe_text(number)}"} if number is not None else set()
    return Service(frozenset(names))


def _operates(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    yield Deed(d.SERVICE, by=by, service=_operated(arguments))


def _queries(_: Reader, by: str, arguments: Arguments) -> Iterator[Deed]:
    text = text_of(arguments, ("sql", "query", "statement")) or ""
    kind, tables = statement_kind(text)
    if kind is not None:
        yield Deed(
            d.DATA if kind == "changes" else d.QUERY, by=by, service=Service(tables), content=text
        )


_BY_KIND: dict[str, Callable[[Reader, str, Arguments], Iterable[Deed]]] = {
    kinds.RUNS: Reader._run,
    kinds.PROGRAM: Reader._program,
    kinds.CODE: Reader._code,
    kinds.EDITOR: Reader._editor,
    kinds.EDITS: Reader._edit,
    kinds.OPENS: Reader._opened,
    kinds.READS: _reads,
    kinds.PATCHES: _patches,
    kinds.DELETES: _deletes,
    kinds.MOVES: _moves,
    kinds.SEARCHES: _searches,
    kinds.LISTS: _lists,
    kinds.PROBES: _probes,
    kinds.TESTS: _tests,
    kinds.BUILDS: _builds,
    kinds.NOTEBOOKS: _runs_notebook,
    kinds.QUERIES: _queries,
    kinds.OPERATES: _operates,
    kinds.LOOKS_UP: _looks_up,
    kinds.AGENT: _delegates,
}
"""How the calls of each kind are read; the quiet ones do nothing that could be evidence."""
