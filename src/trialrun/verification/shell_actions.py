"""Shell scripts to facts: what each program of a script changed, ran, read or did elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from trialrun.model.ledger import Outcome
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification import calls as c
from trialrun.verification import done as p
from trialrun.verification.collected import Collected, Waiting, change_file, opaque, whole
from trialrun.verification.commands import done_by
from trialrun.verification.facts import Act, Look, Run, Unknown, Why
from trialrun.verification.outcomes import read_tests
from trialrun.verification.results import Shown, both_ends, hook_output, is_going_on, result_of
from trialrun.verification.runners import KINDS
from trialrun.verification.shell import Command, Script, parse
from trialrun.verification.task_files import is_called_like
from trialrun.verification.wrappers import unwrapped


def run_script(facts: Collected, call: c.Call, script: Script, hidden: bool = False) -> None:
    """Add what the programs of a shell script did."""
    done: list[tuple[p.Done, Command]] = []
    for command in script.commands:
        for inner in unwrapped(command):
            if inner.host is not None:
                done.append((p.Done(p.ACT, inner.name, act="remote", target=inner.host), inner))
                continue
            done += [(_run_of(one, facts), inner) for one in done_by(inner, facts.table)]
    checks = sum(one.kind in (p.CHECK, p.FORMAT_WRITE) for one, _ in done)
    programs = sum(command.name != "cd" for command in script.commands)
    shown = shown_by(call, checks + (1 if hidden else 0), programs, script)
    if not hidden:
        checked = (p.CHECK, p.FORMAT_WRITE)
        tellers = sum(one.kind in checked and command.shown for one, command in done)
        shown = replace(shown, tellers=tellers)
    if is_going_on(call.head):
        checks_of_it = [pair for pair in done if pair[0].kind == p.CHECK]
        facts.waiting[job_of(call)] = Waiting(call, checks_of_it, [call.step.id])
    for one, command in done:
        _ADDERS[one.kind](facts, call, one, command, shown)
    if not script.sound and not done:
        opaque(facts, call)


def _run_of(done: p.Done, facts: Collected) -> p.Done:
    """What was done; a task whose recipe this session wrote, and that only prints, is no run."""
    if done.kind == p.CHECK and is_called_like(done.name, facts.tasks):
        return p.Done(p.UNKNOWN, done.name)
    return done


def shown_by(call: c.Call, checks: int, commands: int, script: Script | None = None) -> Shown:
    """What the call showed, without the lines that its script prints itself."""
    text = call.text
    own = frozenset(line.text for line in script.said) if script is not None else frozenset()
    if own:
        text = "\n".join(line for line in text.splitlines() if line.strip() not in own)
    sound = script.sound if script is not None else True
    going = is_going_on(call.head)
    only_git = script is not None and all(map(_is_silent_but_for_hooks, script.commands))
    return Shown(text, call.failed, call.recorded, checks, sound, commands, going, only_git)


def _is_silent_but_for_hooks(command: Command) -> bool:
    """`cd x`, `git add x`, `git commit`, `git push`: what is printed is of git or its hooks."""
    words = command.words
    return command.name == "cd" or (command.name == "git" and words[1:2] in _HOOKED)


_HOOKED = (("add",), ("commit",), ("push",))


_JOB = lazy_pattern(
    r"""(?:with ID:?|session ID|cell ID|Task ID:?|agentId:|"session_id":)\s*[`"']?([\w-]+)"""
)


def job_of(call: c.Call) -> str:
    """The id under which the output of a background call is asked for later; empty if none."""
    found = _JOB.search(call.head)
    return found.group(1) if found else ""


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
        change_file(
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
    add_check(facts, call, one, command, shown)


def _files(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    """Files that were deleted, moved, or given another mode."""
    if call.failed and (shown.commands == 1 or done.kind == p.MODE):
        return
    for path in done.paths[-1:] if done.kind == p.MOVE else done.paths:
        change_file(facts, call, whole(call, path, command.folder), done.name, done.kind)


_UNCHANGED = lazy_pattern(
    r"Already up[ -]to[ -]date|is up to date|No local changes|nothing to commit"
)


def _tree(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    """A pull, merge or checkout may change any file; this session owes nothing for that."""
    if not call.failed and not _UNCHANGED.search(call.text):
        folder = whole(call, ".", command.folder)
        change_file(facts, call, folder, done.name, "tree")


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
        opaque(facts, call, writes=False)
        return
    ok: bool | None = None
    if shown.recorded and not shown.going and not command.background:
        if not call.failed:
            ok = True if command.shown and command.told_by is None else None
        elif shown.commands == 1:
            ok = False
    facts.unknown.append(Unknown(facts.next(), call.step.id, text, call.text[:2000], ok=ok))


def add_check(
    facts: Collected,
    call: c.Call,
    done: p.Done,
    command: Command,
    shown: Shown,
    steps: tuple[str, ...] = (),
) -> None:
    """Add a run of a check; `steps` belong to one that was left in the background."""
    started = _started(facts, shown.text) if done.runner is None else frozenset[str]()
    if done.check == "test" and started and "test" not in started:
        # `bun run check` says that it runs Prettier and ESLint: its name promised more.
        done = replace(done, check=next(kind for kind in KINDS if kind in started))
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
            tolerant=done.tolerant or command.altered,
            also=started - {done.check},
        )
    )


# What npm, bun and others print before they run it: "> tsc -p .", "$ biome check".
_STARTS = lazy_pattern(r"^(?:>|\$) (?!\S+@\d)(.{3,300})$", re.MULTILINE)


def _started(facts: Collected, text: str) -> frozenset[str]:
    """The kinds of checks that a task says it starts."""
    lines = _STARTS.findall(text[:20_000])[:20]
    return frozenset(
        done.check if done.kind == p.CHECK else _kind_of(inner, facts)
        for line in lines
        for command in parse(line).commands
        for inner in unwrapped(command)
        for done in done_by(inner, facts.table)
        if done.kind in (p.CHECK, p.FORMAT_WRITE) and done.check != "run"
    )


def _kind_of(command: Command, facts: Collected) -> str:
    """What a program checks that rewrites files: `eslint --fix` is a linter."""
    found = facts.table.find((command.name, *command.words[1:]))
    return found[0].kind if found is not None else "format"


def _act(facts: Collected, call: c.Call, done: p.Done, command: Command, shown: Shown) -> None:
    if done.act == "remote":
        opaque(facts, call, writes=False)
        return
    ok: bool | None = not call.failed
    if call.failed and (not command.shown or _another_failed(done, call)):
        ok = _told_by_git(done.act, call.text)
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


def _another_failed(done: p.Done, call: c.Call) -> bool:
    """Whether the push of `git commit … && git push` may be what failed."""
    return done.act == "commit" and "push" in str(call.arguments)


_REJECTED = lazy_pattern(r"! \[(?:remote )?rejected\]|error: failed to push")
_COMMITTED = lazy_pattern(r"^\[[^\]\n]+ [0-9a-f]{6,}\]", re.MULTILINE)
_PUSHED = lazy_pattern(r"^To \S+|->|Everything up-to-date", re.MULTILINE)


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
        known = any(run.name == name for run in facts.runs)  # it ran before, and said what it is
        if (printed.strip() and shown.only_git) or known:
            facts.unknown.append(
                Unknown(
                    facts.next(), call.step.id, name, printed[:2000], False, known, not call.failed
                )
            )
        return
    told = _COMMITTED.search(call.text) or _PUSHED.search(call.text) or command.shown
    outcome = Outcome.FAILED if call.failed else Outcome.PASSED if told else Outcome.UNKNOWN
    tests = read_tests(printed)
    facts.runs.append(
        Run(facts.next(), call.step.id, "hook", name, done.name,
            whole(call, ".", command.folder), outcome, also=kinds,
            counts=tests.counts if tests else None, text=printed)
    )  # fmt: skip


_DENIED = lazy_pattern(r"Permission for this action was denied|doesn't want to proceed")


_Adder = Callable[[Collected, c.Call, p.Done, Command, Shown], None]
_ADDERS: dict[str, _Adder] = {
    p.INERT: _inert, p.READ: _look, p.WRITE: _write, p.DELETE: _files, p.MOVE: _files,
    p.TREE: _tree, p.MODE: _files, p.CHECK: add_check, p.ACT: _act, p.UNKNOWN: _unknown,
    p.FORMAT_WRITE: _formatted,
}  # fmt: skip
