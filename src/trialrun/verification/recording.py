"""A trace as a sequence of changes and looks: each call is read, then put into the order of the run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from trialrun.model.ledger import Outcome
from trialrun.model.trace import Step, Trace
from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.events import (
    DATA,
    FILE,
    SERVICE,
    Change,
    Events,
    Look,
    Refused,
    program_of,
)
from trialrun.verification.parts import (
    MOST_PENDING,
    Text,
    is_known,
    is_undone,
    was_found,
    was_shown,
)
from trialrun.verification.paths import Paths, is_absolute, is_fleeting, same, tidy, within
from trialrun.verification.python_code import deeds_of_code
from trialrun.verification.reading import Result, ended, result_of, succeeded
from trialrun.verification.runners import Table, language_of
from trialrun.verification.settings import OwnTools
from trialrun.verification.shell import Command
from trialrun.verification.skips import skips_a_test
from trialrun.verification.tools import Reader

# SWE-agent's editor prints the file that it has open.
_SHOWN_FILE = re.compile(r"\[File: ([^\s(\]]+)")
_TAGS = re.compile(r"</?(?:stdout|stderr|output)>")
_LINE_NUMBERS = re.compile(r"^ *\d+[→\t]", re.MULTILINE)  # of an editor that shows a file
# "Command running in background with ID: bash_1. Output is being written to: /tmp/bash_1.output"
_JOB = re.compile(
    r"\b(?:id|job|task|shell|session|process|pid|terminal)\b(?: id)?\s*(?:[:=#]\s*)?[\"'`(]?([\w-]*\d[\w-]*)",
    re.IGNORECASE,
)
_JOB_LOG = re.compile(r"\b(?:written|output|log)\b[^\n]{0,20}?(/[\w./-]+\w)", re.IGNORECASE)


def events_of(trace: Trace, own: OwnTools | None, table: Table) -> Events:
    """The changes and looks of a trace."""
    reader = Reader(own, table)
    read: list[tuple[Step, Result, Sequence[Deed], bool]] = []
    said: list[tuple[str, ...]] = []
    for step in trace.tool_calls:
        found = reader.deeds(step)
        read.append((step, result_of(step), found, reader.sound))
        said.append(reader.said)
    names = [
        f"{deed.folder}/{path}" if deed.folder and not is_absolute(path) else path
        for _, _, found, _ in read
        for deed in found
        for path in deed.paths
    ]
    folders = [deed.folder for _, _, found, _ in read for deed in found if deed.folder]
    root = trace.metadata.get("cwd")
    paths = Paths.of(names, folders, root if isinstance(root, str) else None)
    builder = _Builder(paths)
    for (step, result, found, sound), own_words in zip(read, said, strict=True):
        builder.call(step, result, found, sound, own_words)
    return Events(
        builder.changes,
        builder.looks,
        paths,
        builder.contents,
        builder.texts,
        builder.failed,
        trace.tool_calls,
        {change.target: change.at for change in builder.changes},
    )


class _Builder:
    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.changes: list[Change] = []
        self.looks: list[Look] = []
        self.contents: dict[str, str] = {}
        self.texts: list[str] = []
        self.logs: dict[str, tuple[Deed, bool, int]] = {}  # files that a run's output was sent to
        self.jobs: dict[str, tuple[Deed, bool, int]] = {}  # runs in the background, by their names
        self.failed: list[Refused] = []
        self.standing: dict[str, list[int]] = {}  # of each file, its changes not put back yet
        self.put_away = False  # by `git stash`, in this very run
        self.stashed: list[Change] = []  # what `git stash` has put away, to come back later
        self.operated: set[str] = set()  # the programs by which services were changed until now
        self.unseen: dict[str, list[Text]] = {}  # what was put into files and not looked at since
        self.seen: set[str] = set()  # files that are known to be there
        self.scripts: dict[tuple[str, str], list[Deed]] = {}  # what each writes, read once
        self.at = 0

    def call(
        self,
        step: Step,
        result: Result,
        found: Sequence[Deed],
        sound: bool,
        said: Sequence[str] = (),
    ) -> None:
        if result.text:
            self.texts.append(result.text)
        if self.jobs and not found:
            self._hear_of_job(step, result)
        alone = (
            len(found) == 1 or len({id(deed.command) for deed in found if deed.kind != d.LIST}) <= 1
        )
        heard = _without(result, said) if said else result
        last = _start_of_last_command(found)
        for index, deed in enumerate(found):
            self.at += 1
            if deed.kind in d.CHANGES:
                if succeeded(deed, result, followed=index < last):
                    self._change(step, deed, result)
                else:
                    self.failed += [
                        Refused(self._whole(path, deed), deed.content or "", self.at)
                        for path in deed.paths
                    ]
                continue
            if not deed.answers or program_of(deed.by) in self.operated:
                told = heard if deed.kind in d.TRIALS else result
                self._look(step, deed, told, sound, alone)

    def _whole(self, path: str, deed: Deed) -> str:
        name = re.sub(r":\d+(?:[-:]\d+)?$", "", path) if ":" in path else path
        host = deed.command.host if deed.command is not None else None
        if "*" in name:  # what a pattern takes in lies in its folder
            name = name[: name.index("*")].rpartition("/")[0] + "/"
        whole = self.paths.whole(name, deed.folder)
        return f"{host}:{whole}" if host and ":" not in name and "docker" not in deed.by else whole

    def _change(self, step: Step, deed: Deed, result: Result) -> None:
        if deed.kind in (d.SERVICE, d.DATA):
            service = deed.service or Service()
            kind = SERVICE if deed.kind == d.SERVICE else DATA
            self.operated.add(program_of(deed.by))
            for one in _split(service) if "ansible" in deed.by else [service]:
                # Of several things without a name each is known by what was done.
                name = deed.by if one == Service() else str(one)
                self._add(step, kind, name, name, deed, service=one)
            return
        if deed.kind == d.RESTORE and not deed.paths:
            self._put_back(None, deed)
            self._add(step, FILE, self.paths.root or ".", deed.by, deed, widely=True)
            return
        if deed.kind == d.EDIT and deed.by.startswith("git stash") and self.put_away:
            self._unstash(step, deed)
            return
        reported = deed.report.files(result.text) if deed.report is not None else ()
        targets = reported or deed.paths or tuple(_SHOWN_FILE.findall(result.text[:500])[:1])
        if not targets and deed.kind == d.EDIT:
            self._add(step, FILE, self._tree("", deed), deed.by, deed)
            return
        for path in targets:
            if deed.kind == d.EDIT and path.endswith("/") and ":" not in path:
                self._add(step, FILE, self._tree(path, deed), path, deed)
                continue
            whole = self._whole(path, deed)
            if deed.by == "touch" and whole in self.seen:
                continue  # it was there: only its time is new
            self.seen.add(whole)
            if deed.kind == d.RENAME and deed.source is not None:
                old = self._whole(deed.source, deed)
                self._rename(old, whole)
            if deed.kind == d.EDIT and deed.by.lower() in (
                "write",
                "write_file",
                "create",
                "create_file",
                "write_to_file",
                "cat",
                "str_replace_editor create",
            ):
                self.contents[whole] = deed.content or ""
            widely = False
            if deed.kind == d.RESTORE:
                undone = self._put_back(whole if deed.paths else None, deed)
                below = any(not same(change.target, whole) for change in undone)
                widely = below or "." not in path.strip("./").rpartition("/")[2]
            self._expect(whole, deed)
            shown = path if path != "." else deed.by
            removed = deed.kind == d.REMOVE
            self._add(step, FILE, whole, shown, deed, removed=removed, widely=widely)

    def _add(
        self,
        step: Step,
        kind: str,
        target: str,
        shown: str,
        deed: Deed,
        service: Service | None = None,
        removed: bool = False,
        widely: bool = False,
    ) -> None:
        self._append(
            Change(
                at=self.at,
                step=step.id,
                kind=kind,
                target=target,
                shown=shown,
                by=deed.by,
                language=_language(target, deed) if kind == FILE else None,
                service=service,
                content=deed.content or "",
                removed=removed,
                restored=deed.kind == d.RESTORE,
                widely=widely,
                skips=kind == FILE and skips_a_test(deed, target),
            )
        )

    def _append(self, change: Change) -> None:
        if change.kind == FILE:
            self.standing.setdefault(change.target, []).append(len(self.changes))
        self.changes.append(change)

    def _expect(self, whole: str, deed: Deed) -> None:
        """Remember the text that a later look has to show; where it is not known, any look will do."""
        if deed.kind == d.RENAME and deed.source is not None:
            return  # nothing of the text is new
        written = deed.content if deed.by in ("cat", "tee") else deed.new
        text = Text(written or "", deed.old or "")
        if deed.kind == d.EDIT and is_known(text):
            waiting = self.unseen.setdefault(whole, [])
            waiting.append(text)
            del waiting[:-MOST_PENDING]
        else:
            self.unseen.pop(whole, None)

    def _undone(self, deed: Deed, wholes: Sequence[str], output: str) -> tuple[str, ...]:
        """The files that are shown as they were before the edit: it did not last, or never was."""
        if deed.kind != d.READ or deed.partly or len(wholes) != 1 or not self.unseen:
            return ()
        waiting = self.unseen.get(wholes[0])
        return tuple(wholes) if waiting and is_undone(waiting[-1], output) else ()

    def _missed(self, deed: Deed, wholes: Sequence[str], output: str) -> tuple[str, ...]:
        """Of the files looked at, those whose changed part was not in what was shown."""
        if deed.kind == d.READ and not deed.partly and not deed.sees_names_only:
            for path in wholes:
                self.unseen.pop(path, None)
            return ()
        single = deed.kind == d.SEARCH and len(wholes) == 1
        if not self.unseen or not (single or (deed.partly and deed.kind in (d.READ, d.DIFF))):
            return ()
        paths = wholes or (tuple(self.unseen) if len(self.unseen) <= MOST_PENDING else ())
        missed = []
        for path in paths:
            waiting = self.unseen.get(path)
            if not waiting:
                continue
            left = [
                text
                for text in waiting
                if not (
                    was_found(text, output, deed.content or "")
                    if single
                    else was_shown(text, output)
                )
            ]
            if len(left) == len(waiting):
                missed.append(path)
            self.unseen[path] = left
        return tuple(missed)

    def _rename(self, old: str, new: str) -> None:
        """What was changed under the old name is looked at under the new one."""
        moved = self.standing.pop(old, [])
        for index in moved:
            self.changes[index] = replace(self.changes[index], target=new)
        if moved:
            self.standing.setdefault(new, []).extend(moved)
        if old in self.contents:
            self.contents[new] = self.contents.pop(old)
        waiting = self.unseen.pop(old, None)
        self.unseen.pop(new, None)
        if waiting:
            self.unseen[new] = waiting

    def _tree(self, path: str, deed: Deed) -> str:
        """A whole folder that was changed: its name ends with a slash."""
        whole = self._whole(path, deed) if path else self.paths.whole("", deed.folder)
        return (whole or self.paths.root or ".").rstrip("/") + "/"

    def _put_back(self, whole: str | None, deed: Deed) -> list[Change]:
        undone = self._restore(whole)
        if deed.by == "git stash":
            self.stashed += undone
            self.put_away = True
        return undone

    def _restore(self, whole: str | None) -> list[Change]:
        """Back to what was committed: nothing of the earlier changes is left to look at.

        Returned are those that were there until now.
        """
        if whole is None:
            targets = list(self.standing)
        elif whole in self.standing and "." in whole.rpartition("/")[2]:
            targets = [whole]  # one file: a run may put back thousands of them one by one
        else:
            targets = [target for target in self.standing if _lies_in(target, whole)]
        places = sorted(index for target in targets for index in self.standing.pop(target))
        undone = [self.changes[index] for index in places]
        for index, change in zip(places, undone, strict=True):
            self.changes[index] = replace(change, kind="restored")
        return undone

    def _unstash(self, step: Step, deed: Deed) -> None:
        """What was put away is there again. Runs in between were runs of something else.

        What others had changed before the run comes back too, and is not owed by it.
        """
        back = replace(deed, kind=d.RESTORE)
        self._add(step, FILE, self.paths.root or ".", deed.by, back, widely=True)
        last = {change.target: change for change in self.stashed if not change.restored}
        for change in last.values():
            self._append(replace(change, at=self.at, step=step.id))
        self.stashed, self.put_away = [], False

    def _look(self, step: Step, deed: Deed, result: Result, sound: bool, alone: bool) -> None:
        made = ended(deed, result, sound, alone)
        wholes = tuple([self._whole(path, deed) for path in deed.paths])
        undone = self._undone(deed, wholes, result.text)
        if made.outcome is Outcome.PASSED and deed.kind in (d.READ, d.SEARCH):
            self.seen.update(wholes)
        folder = self.paths.whole("", deed.folder) if deed.folder else self.paths.root or ""
        if deed.folder is None:
            folder = ""
        look = Look(
            at=self.at,
            step=step.id,
            kind=deed.kind,
            by=deed.by,
            paths=wholes,
            folder=folder,
            outcome=made.outcome,
            counts=made.counts,
            detail=made.detail,
            # `! grep …` that went well found nothing, whatever else the call printed.
            text=""
            if deed.command is not None and deed.command.negated and not result.failed
            else result.text,
            languages=deed.languages,
            filters=deed.filters,
            package=deed.package,
            service=deed.service,
            content=deed.content or "",
            names_only=deed.sees_names_only,
            answers=deed.answers,
            host=deed.command.host if deed.command is not None else None,
            missed=self._missed(deed, wholes, result.text)
            if made.outcome is Outcome.PASSED
            else (),
            undone=undone,
            command=" ".join(deed.command.words)[:300] if deed.command else deed.by,
        )
        self.looks.append(look)
        if deed.command is not None and deed.kind in d.TRIALS:
            run = (deed, alone, self.at)
            for path in deed.command.writes:
                self.logs[self._whole(path, deed)] = run
            if deed.command.background:
                self.jobs.update(dict.fromkeys(_JOB.findall(result.text[:2000]), run))
                log = _JOB_LOG.search(result.text[:2000])
                if log is not None:
                    self.logs[self.paths.whole(log.group(1))] = run
        elif deed.kind == d.READ and result.text.strip():
            self._read_log(step, wholes, result)
        if deed.kind == d.READ and len(wholes) == 1 and made.outcome is Outcome.PASSED:
            self.contents.setdefault(wholes[0], result.text)
        if deed.kind == d.RUN and made.outcome is not Outcome.FAILED:
            for written in self._written_by(wholes):
                self.at += 1
                self._change(step, written, result)

    def _read_log(self, step: Step, wholes: Sequence[str], result: Result) -> None:
        """Whoever reads the log of a run sees its result."""
        for path in wholes:
            if path in self.logs:
                self._tell(step, self.logs[path], result)

    def _hear_of_job(self, step: Step, result: Result) -> None:
        """A tool that is told the name of a run in the background returns what it printed."""
        given = step.tool_args.values() if isinstance(step.tool_args, dict) else ()
        for name in given:
            if isinstance(name, (str, int)) and str(name) in self.jobs and result.text.strip():
                self._tell(step, self.jobs[str(name)], result)

    def _tell(self, step: Step, run: tuple[Deed, bool, int], result: Result) -> None:
        """An earlier run's output is seen now."""
        deed, alone, at = run
        command = deed.command
        assert command is not None  # only commands have logs
        seen = result.exit_code is not None
        told = replace(deed, command=replace(command, shown=seen, background=False, writes=()))
        text = _TAGS.sub("\n", _LINE_NUMBERS.sub("", result.text))
        self._look(step, told, Result(text, result.exit_code), True, alone)
        self.looks[-1] = replace(self.looks[-1], at=at)  # it shows how things were then

    def _written_by(self, scripts: Sequence[str]) -> Iterator[Deed]:
        """What a script of this very run writes when it is started."""
        for script in scripts:
            code = self.contents.get(script)
            if code and script.endswith(".py"):
                if (script, code) not in self.scripts:
                    self.scripts[script, code] = list(_edits_of_script(script, code))
                yield from self.scripts[script, code]


def _edits_of_script(script: str, code: str) -> Iterator[Deed]:
    for deed in deeds_of_code(code, Command(("python", script))):
        kept = tuple(path for path in deed.paths if not is_fleeting(path))
        if deed.kind == d.EDIT and kept:
            by = f"python {tidy(script).rpartition('/')[2]}"
            yield replace(deed, paths=kept, command=None, by=by)


def _start_of_last_command(found: Sequence[Deed]) -> int:
    """Where the deeds begin that are all of the last command: behind them nothing follows."""
    start = len(found) - 1
    while start > 0 and found[start - 1].command is found[-1].command:
        start -= 1
    return start


def _without(result: Result, said: Sequence[str]) -> Result:
    """The result without the lines that the script printed itself: they tell nothing of a run."""
    own = frozenset(said)
    lines = result.text.splitlines()
    kept = [line for line in lines if line.strip() not in own]
    echoes = own.intersection(line.strip() for line in lines)
    return replace(result, text="\n".join(kept), echoes=echoes)


def _lies_in(target: str, whole: str) -> bool:
    """Whether it is that file, or lies in that folder; `lib/a.py` is not `a.py`."""
    if is_absolute(target) != is_absolute(whole):
        return within(target, whole)
    return target == whole or not whole.strip("./") or target.startswith(whole.rstrip("/") + "/")


def _language(target: str, deed: Deed) -> str | None:
    """Of a folder, the one language of the program that changed it, if it has one."""
    if target.endswith("/"):
        return next(iter(deed.languages)) if len(deed.languages) == 1 else None
    return language_of(target)


def _split(service: Service) -> list[Service]:
    """A playbook on two hosts changes two things, each known by its host."""
    return [Service(host=name, port=service.port) for name in sorted(service.names)] or [service]
