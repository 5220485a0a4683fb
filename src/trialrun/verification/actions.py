"""Calls to facts: what each call changed, ran, read or did elsewhere, in its own folder."""

from __future__ import annotations

import re
from collections.abc import Callable

from trialrun.model.ledger import Outcome
from trialrun.verification import calls as c
from trialrun.verification import done as p
from trialrun.verification.arguments import command_of, exchanged, paths_of, text_of
from trialrun.verification.code_mode import patched_files, read_source, source_of
from trialrun.verification.collected import Collected, Waiting, change_file, opaque, whole
from trialrun.verification.facts import Act, Failed, Look, Run, Why
from trialrun.verification.results import Shown, is_going_on
from trialrun.verification.shell import Command, Script, parse
from trialrun.verification.shell_actions import add_check, job_of, run_script, shown_by


def add_call(facts: Collected, call: c.Call) -> None:
    """Add what one call did."""
    facts.calls += 1
    _HANDLERS.get(call.kind, opaque)(facts, call)


def _edit(facts: Collected, call: c.Call) -> None:
    paths = paths_of(call.arguments)
    if not paths:
        opaque(facts, call)
        return
    new, old = exchanged(call.arguments)
    for path in paths:
        name = whole(call, path)
        if call.failed:
            facts.failed.append(Failed(facts.next(), call.step.id, name))
            continue
        created = old is None and not any(look.path == name for look in facts.looks[-200:])
        verb = "create" if created and _creates(call) else "edit"
        change_file(facts, call, name, call.name, verb, new or "", old or "")


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
        change_file(facts, call, name, call.name, verb, *_sides(text, path))


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
            change_file(facts, call, whole(call, path), call.name, "delete")


def _move(facts: Collected, call: c.Call) -> None:
    names = [value for value in call.arguments.values() if isinstance(value, str)]
    for path in names[:2]:
        if not call.failed:
            change_file(facts, call, whole(call, path), call.name, "move")


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
    """A subagent whose calls are not in the trace may have done anything, unless it only reads."""
    kind = str(call.arguments.get("subagent_type") or call.arguments.get("agent_type") or "")
    if not c.READ_ONLY_AGENTS.search(kind):
        opaque(facts, call)
    if job := job_of(call):
        facts.waiting[job] = Waiting(call, [], [call.step.id])


def _pull_request(facts: Collected, call: c.Call) -> None:
    kind = "merge" if "merge" in call.name.lower() else "pr"
    facts.acts.append(Act(facts.next(), call.step.id, kind, not call.failed, text=call.text[:2000]))


def _quiet(facts: Collected, call: c.Call) -> None:
    """Bookkeeping of the agent: nothing of the project."""


def _code(facts: Collected, call: c.Call) -> None:
    code = text_of(call.arguments, ("code", "input", "script", "command")) or ""
    done = p.Done(p.CHECK, call.name, check="run", target=code[:2000])
    add_check(facts, call, done, Command((call.name,)), shown_by(call, 1, 1))
    opaque(facts, call)


def _script(facts: Collected, call: c.Call) -> None:
    """Codex's JavaScript with commands inside."""
    source = read_source(source_of(call.arguments))
    if source.job:
        _later(facts, call, source.job)
    for path in source.patched:
        change_file(facts, call, whole(call, path), "apply_patch")
    for script in source.commands:
        run_script(facts, call, parse(script), hidden=len(source.commands) > 1)
    kinds = [c.kind_of(name, {}, facts.own) for name in source.tools]
    if c.PULL_REQUEST in kinds:
        _pull_request(facts, call)
    if source.unread or not _HARMLESS.issuperset(kinds):
        opaque(facts, call)


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


def _later(facts: Collected, call: c.Call, named: str = "") -> None:
    """The output of a run that was left in the background, asked for later."""
    given = {str(value) for value in call.arguments.values() if isinstance(value, (str, int))}
    job = next((name for name in facts.waiting if name and (name == named or name in given)), None)
    if job is None:
        opaque(facts, call, writes=False)
        return
    waiting = facts.waiting[job]
    waiting.steps.append(call.step.id)
    if is_going_on(call.head):
        facts.waiting.setdefault(job_of(call), waiting)  # to be asked for under another name
        return
    checks = waiting.checks
    shown = Shown(call.text, call.failed, True, len(checks), True, len(checks), False)
    for one, command in checks:
        told = command.shown and call.exit_code is not None
        plain = Command(command.words, command.folder, shown=told, piped_into=command.piped_into)
        add_check(facts, waiting.call, one, plain, shown, steps=tuple(waiting.steps))


_HANDLERS: dict[str, Callable[[Collected, c.Call], None]] = {
    c.EDIT: _edit, c.PATCH: _patch, c.DELETE: _delete, c.MOVE: _move, c.EDITOR: _editor,
    c.READ: _read, c.SEARCH: _search, c.SHELL: _shell, c.CODE: _code, c.SCRIPT: _script,
    c.AGENT: _agent, c.LATER: _later, c.QUIET: _quiet, c.OTHER: opaque, c.DIAGNOSE: _diagnose,
    c.PULL_REQUEST: _pull_request, c.PROBE: opaque,
}  # fmt: skip
