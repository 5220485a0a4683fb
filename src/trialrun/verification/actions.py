"""Calls to facts: what each call changed, ran, read or did elsewhere, in its own folder."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from trialrun.model.ledger import Outcome
from trialrun.model.trace import Trace
from trialrun.verification import calls as c
from trialrun.verification import commands as p
from trialrun.verification.arguments import command_of, exchanged, paths_of, text_of
from trialrun.verification.code_mode import read_source
from trialrun.verification.facts import Act, Change, Failed, Look, Run, Sort, Unknown, Why
from trialrun.verification.outcomes import read_tests
from trialrun.verification.patches import patched_files
from trialrun.verification.paths import is_absolute, join, tidy
from trialrun.verification.results import Shown, both_ends, hook_output, is_going_on, result_of
from trialrun.verification.runners import Table
from trialrun.verification.shell import Command, Script, parse
from trialrun.verification.sorts import sort_of
from trialrun.verification.wrappers import unwrapped


class Waiting(Struct, gc=False):
    """A call that was left in the background, its checks, and the steps that belong to it."""

    call: c.Call
    checks: list[tuple[p.Done, Command]]
    steps: list[str]


class Collected(Struct, gc=False):
    """The facts of one session while they are collected."""

    table: Table
    own: dict[str, str]
    root: str
    at: int = 0
    changes: list[Change] = []
    runs: list[Run] = []
    acts: list[Act] = []
    looks: list[Look] = []
    unknown: list[Unknown] = []
    failed: list[Failed] = []
    waiting: dict[str, Waiting] = {}
    made: set[str] = set()  # files that were made in this session
    calls: int = 0

    def next(self) -> int:
        """The next position."""
        self.at += 1
        return self.at


def collect(trace: Trace, table: Table, own: dict[str, str]) -> Collected:
    """An empty collection for the session."""
    cwd = trace.metadata.get("cwd")
    root = cwd if isinstance(cwd, str) else ""
    return Collected(table, own, tidy(root) if root else "")


def add_call(facts: Collected, call: c.Call) -> None:
    """Add what one call did."""
    facts.calls += 1
    _HANDLERS.get(call.kind, _other)(facts, call)


def whole(call: c.Call, path: str, folder: str | None = "") -> str:
    """The absolute name of a path of a call, where its folder is known."""
    path = tidy(path)
    if is_absolute(path):
        return path
    base = folder if folder and is_absolute(folder) else join(call.cwd or None, folder or ".")
    return tidy(f"{base}/{path}") if base else path


def _change(
    facts: Collected,
    call: c.Call,
    path: str,
    by: str,
    verb: str = "edit",
    new: str = "",
    old: str = "",
) -> None:
    if verb == "create":
        facts.made.add(path)
    sort = sort_of(within_project(path, facts.root)) if verb != "tree" else Sort.CODE
    if sort in (Sort.CODE, Sort.TEST, Sort.CONFIG) and _only_comments(new, old):
        sort = Sort.TEXT
    facts.changes.append(
        Change(facts.next(), call.step.id, path, sort, by, verb, new[:20_000], old[:20_000],
               path in facts.made, call.agent)
    )  # fmt: skip


# A worktree that an agent made for itself: `~/.codex/worktrees/7d59/mise/src/http.rs`.
_WORKTREE = re.compile(r"^.*/worktrees/(?:[0-9a-f]{4,}/)?[^/]+/")


def within_project(path: str, root: str) -> str:
    """The path from the project's folder, or from that of a worktree, if it lies there."""
    if root and path.startswith(root + "/"):
        return path[len(root) + 1 :]
    return _WORKTREE.sub("", path)


_COMMENT = re.compile(r"^\s*(?:#(?!\[|!|include|define|if|endif)|//|\*|/\*|\*/|--|<!--|;;|$)")


def _only_comments(new: str, old: str) -> bool:
    """Whether an edit exchanges comment lines for comment lines."""
    if not new.strip() or not old.strip():
        return False
    before, after = old.splitlines(), new.splitlines()
    changed = [line for line in (*before, *after) if line not in before or line not in after]
    return bool(changed) and all(_COMMENT.match(line) for line in changed)


def _edit(facts: Collected, call: c.Call) -> None:
    paths = paths_of(call.arguments)
    if not paths:
        _opaque(facts, call)
        return
    new, old = exchanged(call.arguments)
    for path in paths:
        name = whole(call, path)
        if call.failed:
            facts.failed.append(Failed(facts.next(), call.step.id, name))
            continue
        created = old is None and not any(look.path == name for look in facts.looks[-200:])
        verb = "create" if created and _creates(call) else "edit"
        _change(facts, call, name, call.name, verb, new or "", old or "")


def _creates(call: c.Call) -> bool:
    return "reate" in call.text[:200] or "reat" in call.name.lower()


def _patch(facts: Collected, call: c.Call) -> None:
    text = "\n".join(value for value in call.arguments.values() if isinstance(value, str))
    for path in patched_files(text) or list(paths_of(call.arguments)):
        name = whole(call, path)
        if call.failed:
            facts.failed.append(Failed(facts.next(), call.step.id, name))
            continue
        added = f"*** Add File: {path}" in text
        deleted = f"*** Delete File: {path}" in text
        verb = "create" if added else "delete" if deleted else "edit"
        _change(facts, call, name, call.name, verb, *_sides(text, path))


def _sides(patch: str, path: str) -> tuple[str, str]:
    """The lines that a patch adds to a file, and those that it takes out."""
    start = patch.find(path)
    end = patch.find("\n*** ", start + 1)
    part = patch[start : end if end > 0 else None].splitlines()[1:]
    new = "\n".join(line[1:] for line in part if line.startswith("+"))
    return new, "\n".join(line[1:] for line in part if line.startswith("-"))


def _delete(facts: Collected, call: c.Call) -> None:
    for path in paths_of(call.arguments):
        if not call.failed:
            _change(facts, call, whole(call, path), call.name, "delete")


def _move(facts: Collected, call: c.Call) -> None:
    names = [value for value in call.arguments.values() if isinstance(value, str)]
    for path in names[:2]:
        if not call.failed:
            _change(facts, call, whole(call, path), call.name, "move")


def _editor(facts: Collected, call: c.Call) -> None:
    (_read if call.arguments.get("command") == "view" else _edit)(facts, call)


def _read(facts: Collected, call: c.Call) -> None:
    if call.failed:
        return
    for path in paths_of(call.arguments):
        facts.looks.append(Look(facts.next(), call.step.id, "read", whole(call, path)))


def _search(facts: Collected, call: c.Call) -> None:
    facts.looks.append(Look(facts.next(), call.step.id, "search"))


def _diagnose(facts: Collected, call: c.Call) -> None:
    """An editor's check of a file: passed where it lists nothing."""
    paths = tuple(whole(call, path.removeprefix("file://")) for path in paths_of(call.arguments))
    clean = re.search(r'"diagnostics":\s*\[\s*\]|No errors found', call.text) is not None
    outcome = Outcome.PASSED if clean and not call.failed else Outcome.UNKNOWN
    facts.runs.append(
        Run(facts.next(), call.step.id, "lint", call.name, call.name, call.cwd, outcome,
            Why.NONE if clean else Why.HIDDEN, paths=paths)
    )  # fmt: skip


def _agent(facts: Collected, call: c.Call) -> None:
    """A subagent whose own calls are not in the trace may have done anything, unless it only reads."""
    kind = str(call.arguments.get("subagent_type") or call.arguments.get("agent_type") or "")
    if not c.READ_ONLY_AGENTS.search(kind):
        _opaque(facts, call)
    if job := _job_of(call):
        facts.waiting[job] = Waiting(call, [], [call.step.id])


def _pull_request(facts: Collected, call: c.Call) -> None:
    kind = "merge" if "merge" in call.name.lower() else "pr"
    facts.acts.append(Act(facts.next(), call.step.id, kind, not call.failed, text=call.text[:2000]))


def _quiet(facts: Collected, call: c.Call) -> None:
    """Bookkeeping of the agent: nothing of the project."""


def _other(facts: Collected, call: c.Call) -> None:
    _opaque(facts, call)


def _opaque(facts: Collected, call: c.Call, writes: bool = True) -> None:
    """A call of which nothing shows what it did."""
    facts.unknown.append(
        Unknown(facts.next(), call.step.id, call.name, call.text[:2000], writes, True, call.failed)
    )


def _code(facts: Collected, call: c.Call) -> None:
    code = text_of(call.arguments, ("code", "input", "script", "command")) or ""
    done = p.Done(p.CHECK, call.name, check="run", target=code[:2000])
    _check(facts, call, done, Command((call.name,)), _shown(call, 1, 1))
    _opaque(facts, call)


def _script(facts: Collected, call: c.Call) -> None:
    """Codex's JavaScript with commands inside."""
    source = read_source(text_of(call.arguments, ("input", "code", "script")) or "")
    if source.job:
        _later(facts, call, source.job)
    for path in source.patched:
        _change(facts, call, whole(call, path), "apply_patch")
    for script in source.commands:
        run_script(facts, call, parse(script), hidden=len(source.commands) > 1)
    kinds = [c.kind_of(name, {}, facts.own) for name in source.tools]
    if c.PULL_REQUEST in kinds:
        _pull_request(facts, call)
    if source.unread or not _HARMLESS.issuperset(kinds):
        _opaque(facts, call)


_HARMLESS = frozenset({c.QUIET, c.SEARCH, c.READ, c.PULL_REQUEST})


def _shell(facts: Collected, call: c.Call) -> None:
    given = command_of(call.arguments)
    if isinstance(given, list):
        inner = next((given[i + 1] for i, w in enumerate(given[:-1]) if w in ("-c", "-lc")), None)
        script = parse(inner) if inner is not None else Script((Command(tuple(given)),))
    else:
        text = re.sub(r"\A```\w*\n|\n?```\s*\Z", "", given or "")
        script = parse(text.replace("&amp;", "&"))
    run_script(facts, call, script, hidden=False)


def run_script(facts: Collected, call: c.Call, script: Script, hidden: bool = False) -> None:
    """Add what the programs of a shell script did."""
    done: list[tuple[p.Done, Command]] = []
    for command in script.commands:
        for inner in unwrapped(command):
            if inner.host is not None:
                done.append((p.Done(p.ACT, inner.name, act="remote", target=inner.host), inner))
                continue
            done += [(one, inner) for one in p.done_by(inner, facts.table)]
    checks = sum(one.kind in (p.CHECK, p.FORMAT_WRITE) for one, _ in done)
    shown = _shown(call, checks + (1 if hidden else 0), len(script.commands), script)
    if _goes_on(call):
        checks_of_it = [pair for pair in done if pair[0].kind == p.CHECK]
        facts.waiting[_job_of(call)] = Waiting(call, checks_of_it, [call.step.id])
    for one, command in done:
        _ADDERS[one.kind](facts, call, one, command, shown)
    if not script.sound and not done:
        _opaque(facts, call)


def _shown(call: c.Call, checks: int, commands: int, script: Script | None = None) -> Shown:
    text = call.text
    own = frozenset(line.text for line in script.said) if script is not None else frozenset()
    if own:
        text = "\n".join(line for line in text.splitlines() if line.strip() not in own)
    sound = script.sound if script is not None else True
    return Shown(text, call.failed, call.recorded, checks, sound, commands, _goes_on(call))


def _goes_on(call: c.Call) -> bool:
    return is_going_on(call.head)


_JOB = re.compile(
    r"""(?:with ID:?|session ID|cell ID|Task ID:?|agentId:|"session_id":)\s*[`"']?([\w-]+)"""
)


def _job_of(call: c.Call) -> str:
    found = _JOB.search(call.head)
    return found.group(1) if found else ""


def _later(facts: Collected, call: c.Call, named: str = "") -> None:
    """The output of a run that was left in the background, asked for later."""
    given = {str(value) for value in call.arguments.values() if isinstance(value, (str, int))}
    job = next((name for name in facts.waiting if name and (name == named or name in given)), None)
    if job is None:
        _opaque(facts, call, writes=False)
        return
    waiting = facts.waiting[job]
    waiting.steps.append(call.step.id)
    if _goes_on(call):
        return
    checks = waiting.checks
    shown = Shown(call.text, call.failed, True, len(checks), True, len(checks), False)
    for one, command in checks:
        plain = Command(command.words, command.folder, shown=command.shown and call.exit_code is not None,
                        piped_into=command.piped_into)  # fmt: skip
        _check(facts, waiting.call, one, plain, shown, steps=tuple(waiting.steps))


def _write(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    if call.failed and shown.commands == 1:
        return
    if not done.paths:  # `grep -l old | xargs sed -i …`: whatever was found
        _tree(facts, call, done, command, shown)
    for path in done.paths:
        if set(path) & set("$`*{"):
            facts.unknown.append(Unknown(facts.next(), call.step.id, done.name))
            continue
        verb = "format" if done.kind == p.FORMAT_WRITE else "edit"
        _change(
            facts, call, whole(call, path, command.folder), done.name, verb, command.stdin or ""
        )


def _formatted(
    facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown
) -> None:
    """A formatter rewrites what is there: it is no change of meaning, and tries the syntax out."""
    found = facts.table.find((command.name, *command.words[1:]))
    runner = found[0] if found is not None else None
    kind = runner.kind if runner is not None else "format"
    one = p.Done(
        p.CHECK, done.name, check=kind, runner=runner, languages=runner.languages if runner else ()
    )
    _check(facts, call, one, command, shown)


def _deleted(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    for path in done.paths:
        _change(facts, call, whole(call, path, command.folder), done.name, "delete")


def _moved(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    if not (call.failed and shown.commands == 1):
        for path in done.paths[-1:]:
            _change(facts, call, whole(call, path, command.folder), done.name, "move")


_UNCHANGED = re.compile(
    r"Already up[ -]to[ -]date|is up to date|No local changes|nothing to commit"
)


def _tree(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    """A pull, merge or checkout may change any file; what others wrote is not owed by this session."""
    if not call.failed and not _UNCHANGED.search(call.text):
        folder = whole(call, ".", command.folder)
        _change(facts, call, folder, done.name, "tree")


def _look(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    for path in (*done.paths, *command.reads):
        facts.looks.append(
            Look(facts.next(), call.step.id, "read", whole(call, path, command.folder))
        )


def _inert(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    if done.name in ("find", "ls", "fd", "rg", "grep"):
        facts.looks.append(Look(facts.next(), call.step.id, "search"))


_OTHER_SESSIONS = frozenset({"tmux", "workmux", "screen", "zellij"})
"""Programs that show what others run: nothing of it is in this session."""


def _unknown(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    text = " ".join(command.words)[:200]
    if command.name in _OTHER_SESSIONS:
        _opaque(facts, call, writes=False)
        return
    failed = call.failed and shown.commands == 1
    facts.unknown.append(Unknown(facts.next(), call.step.id, text, call.text[:2000], failed=failed))


def _check(
    facts: Collected,
    call: c.Call,
    done: p.Done,
    command: Command,
    shown: Shown,
    steps: tuple[str, ...] = (),
) -> None:
    result = result_of(done, command, shown)
    if done.endless and result.outcome is not Outcome.FAILED:
        result = type(result)(Outcome.UNKNOWN, Why.KILLED, result.counts, result.line)
    folder = whole(call, ".", command.folder) if command.folder is not None else ""
    facts.runs.append(
        Run(
            at=facts.next(),
            step=steps[-1] if steps else call.step.id,
            steps=steps,
            code=done.target if done.check == "run" else "",
            kind=done.check,
            name=done.name,
            command=" ".join(command.words)[:300],
            folder=folder,
            outcome=result.outcome,
            why=result.why,
            paths=tuple(whole(call, path, command.folder) for path in done.paths),
            filters=done.filters,
            languages=frozenset(done.languages),
            counts=result.counts,
            line=result.line,
            text=both_ends(shown.text),
            tolerant=done.tolerant,
            also=_started(facts, shown.text) - {done.check} if done.runner is None else frozenset(),
        )
    )


# What npm, bun and others print before they run it: "> tsc -p .", "$ biome check".
_STARTS = re.compile(r"^(?:>|\$) (?!\S+@\d)(.{3,300})$", re.MULTILINE)


def _started(facts: Collected, text: str) -> frozenset[str]:
    """The kinds of checks that a task says it starts."""
    lines = _STARTS.findall(text[:20_000])[:20]
    return frozenset(
        done.check
        for line in lines
        for command in parse(line).commands
        for inner in unwrapped(command)
        for done in p.done_by(inner, facts.table)
        if done.kind == p.CHECK and done.check != "run"
    )


def _act(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    if done.act == "remote":
        _opaque(facts, call, writes=False)
        return
    ok: bool | None = not call.failed
    if call.failed and not command.shown:
        ok = None
    if not command.shown and not call.failed:
        ok = _told_by_git(done.act, call.text)
    if done.dry:
        return
    if done.act == "push" and _REJECTED.search(call.text):
        ok = False
    if done.act in ("commit", "push"):
        _hook(facts, call, done, command, shown)
        if _UNCHANGED.search(call.text) and done.act == "commit":
            ok = None if ok else ok
    facts.acts.append(
        Act(facts.next(), call.step.id, done.act, ok, done.target, call.text[:20_000])
    )


_REJECTED = re.compile(r"! \[(?:remote )?rejected\]|error: failed to push")
_COMMITTED = re.compile(r"^\[[^\]\n]+ [0-9a-f]{6,}\]", re.MULTILINE)
_PUSHED = re.compile(r"^To \S+|->|Everything up-to-date", re.MULTILINE)


def _told_by_git(act: str, text: str) -> bool | None:
    pattern = {"commit": _COMMITTED, "push": _PUSHED}.get(act)
    return True if pattern is not None and pattern.search(text) else None


_FATAL = 128  # git itself gave up, before or without a hook


def _hook(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    """A commit or push whose hooks printed the result of a check is a run of this check."""
    printed, kinds = hook_output(call.text)
    if done.tolerant or shown.checks or call.exit_code == _FATAL or _DENIED.search(call.head):
        return  # no hooks, or what was printed is of another program
    name = f"{done.name} hook"
    if kinds <= {"hook"} and call.failed and printed.strip():
        # It stopped early: the same hook has the checks that it showed before.
        before = (run.also for run in reversed(facts.runs) if run.name == name and run.also)
        kinds = next(before, kinds)
    elif not kinds:
        return
    told = _COMMITTED.search(call.text) or _PUSHED.search(call.text) or command.shown
    outcome = Outcome.FAILED if call.failed else Outcome.PASSED if told else Outcome.UNKNOWN
    tests = read_tests(printed)
    facts.runs.append(
        Run(facts.next(), call.step.id, "hook", name, done.name,
            whole(call, ".", command.folder), outcome, also=kinds,
            counts=tests.counts if tests else None, text=printed)
    )  # fmt: skip


_DENIED = re.compile(r"Permission for this action was denied|doesn't want to proceed")


_Adder = Callable[[Collected, c.Call, p.Done, Command, Shown], None]
_ADDERS: dict[str, _Adder] = {
    p.INERT: _inert, p.READ: _look, p.WRITE: _write, p.DELETE: _deleted, p.MOVE: _moved,
    p.TREE: _tree, p.CHECK: _check, p.ACT: _act, p.UNKNOWN: _unknown, p.FORMAT_WRITE: _formatted,
}  # fmt: skip
_HANDLERS: dict[str, Callable[[Collected, c.Call], None]] = {
    c.EDIT: _edit, c.PATCH: _patch, c.DELETE: _delete, c.MOVE: _move, c.EDITOR: _editor,
    c.READ: _read, c.SEARCH: _search, c.SHELL: _shell, c.CODE: _code, c.SCRIPT: _script,
    c.AGENT: _agent, c.LATER: _later, c.QUIET: _quiet, c.OTHER: _other, c.DIAGNOSE: _diagnose,
    c.PULL_REQUEST: _pull_request, c.PROBE: _other,
}  # fmt: skip
