"""`trialrun verify --hook`: a Stop and SubagentStop hook of Claude Code.

By default it reports. With `--block` it sends the agent back to work where a stable rule of
severity fail fires, and says how to get out honestly. It never exits with 2, which Claude Code
takes for a block: whatever goes wrong here, the agent may stop.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from trialrun.cli.output import put, say
from trialrun.cli.verify.hook_input import (
    HookInput,
    LetGo,
    final_trace,
    hook_input,
    is_cut,
    prompts_of,
    says_skip,
)
from trialrun.cli.verify.hook_memory import MOST_BLOCKS, Memory, memory_folder
from trialrun.cli.verify.project import Project
from trialrun.cli.verify.reading import session_of_trace
from trialrun.model.ledger import Finding
from trialrun.model.trace import Step, Trace
from trialrun.model.verified import Session
from trialrun.redaction import strings_of
from trialrun.reports.views.ledger import weight_of
from trialrun.reports.views.printable import one_line
from trialrun.util.texts import excerpt

_MOST_FINDINGS = 3
_SHOWN_CLAIM = 200


def run_hook(block: bool, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> int:
    """Answer one call of the hook. Always 0."""
    try:
        _answer(hook_input(), block, select, ignore)
    except LetGo as reason:
        say(f"trialrun: not checked: {reason}")
    except Exception as error:  # a mistake in settings, or a bug: the agent may stop
        say(f"trialrun: not checked: {error}")
    return 0


def _answer(given: HookInput, block: bool, select: Sequence[str], ignore: Sequence[str]) -> None:
    trace = final_trace(given)
    project = Project(select=select, ignore=ignore)
    cwd = given.cwd or trace.metadata.get("cwd")
    if isinstance(cwd, str):
        trace.metadata = {**trace.metadata, "cwd": trace.metadata.get("cwd") or cwd}
    session = session_of_trace(trace, given.transcript, project)
    notes = _edited_settings(trace)
    if session.ledger.no_verdict:
        notes.append(f"no verdict: {session.ledger.no_verdict}")
        _report([], notes)
        return
    stable = [one for one in session.findings if one.stable]
    if block:
        given_back, why = _given_back(given, trace, session)
        if given_back:
            put(_json(decision="block", reason=block_reason(given_back)))
            for note in notes:
                say(f"trialrun: {note}")
            return
        notes += [why] if why else []
    _report(stable, notes)


def _given_back(given: HookInput, trace: Trace, session: Session) -> tuple[list[Finding], str]:
    """The findings for which the agent is sent back to work, else why there are none.

    That it was sent back is remembered before it is: without a memory it might go on for ever.
    """
    red = [one for one in session.findings if one.is_red]
    if not red:
        return [], ""
    if says_skip(given, trace):
        return [], "not blocked: the prompt says `trialrun: skip`"
    if is_cut(given.transcript):
        return [], "not blocked: the beginning of the session is not in its transcript"
    memory = Memory(
        memory_folder(given.cwd),
        f"{given.session_id or session.id}{given.transcript.stem if given.is_subagent else ''}",
        prompt=str(len(prompts_of(trace))),
    )
    if not memory.readable:
        return [], f"not blocked: {memory.file} cannot be read"
    new = [one for one in red if not memory.has_seen(one.fingerprint(session.id))][:_MOST_FINDINGS]
    if not new:
        return [], "not blocked: the agent was sent back for this before"
    if memory.blocks >= MOST_BLOCKS:
        return [], f"not blocked: the agent was sent back {MOST_BLOCKS} times for this prompt"
    if given.stop_hook_active and memory.blocks == 0:
        return [], "not blocked: another hook keeps the agent at work"
    if not memory.remember([one.fingerprint(session.id) for one in new]):
        return [], f"not blocked: {memory.file} cannot be written"
    return new, ""


def block_reason(findings: Sequence[Finding]) -> str:
    """What the agent reads: what was said, what undid it, what to run, and the honest way out."""
    about = {finding.target for finding in findings if finding.claim and finding.target}
    # That the same file was not exercised is said already with the claim.
    shown = [one for one in findings if one.claim or one.target not in about]
    return "\n\n".join(dict.fromkeys(map(_part_of_reason, shown)))


def _part_of_reason(finding: Finding) -> str:
    lines = []
    if finding.claim:
        claim = excerpt(" ".join(finding.claim.split()), _SHOWN_CLAIM)
        lines.append(f"The last message says {one_line(claim)}, and the session does not show it.")
    steps = f" (step{'s' if len(finding.steps) > 1 else ''} {', '.join(finding.steps[:5])})"
    where = one_line(steps) if finding.steps else ""
    lines.append(f"{finding.code} {finding.name}: {one_line(finding.message)}{where}")
    run = f"run `{one_line(finding.command)}`" if finding.command else "run a check of it"
    if finding.claim:
        lines.append(f"Either {run} and say what it shows, or say it without the claim.")
    else:
        lines.append(f"Either {run} and say what it shows, or say that it was not tried.")
    return "\n".join(lines)


def _report(findings: Sequence[Finding], notes: Sequence[str]) -> None:
    """Tell the user, in Claude Code and on stderr; nothing where there is nothing to say."""
    lines = [_line(finding) for finding in findings[:10]] + list(notes)
    if not lines:
        return
    for line in lines:
        say(f"trialrun: {line}")
    put(_json(systemMessage="\n".join(f"trialrun: {one_line(line)}" for line in lines)))


def _line(finding: Finding) -> str:
    weight = weight_of(finding)
    claim = f": {excerpt(' '.join(finding.claim.split()), _SHOWN_CLAIM)}" if finding.claim else ""
    return f"{finding.code}{f' [{weight}]' if weight else ''} {finding.message}{claim}"


def _json(**fields: str) -> str:
    return msgspec.json.encode(fields).decode() + "\n"


_SETTINGS = re.compile(r"\.claude[/\\]settings[\w.]*\.json|tool\.trialrun\.verification")
# The folder of these settings as a whole, and that of the hook's memory: `rm -rf '.claude'; ls`,
# `rm -r .trialrun/hook`.
_FOLDERS = re.compile(r"""(?:^|[/\\\s'"])\.claude[/\\]?(?=$|[\s'";&|)])|\.trialrun[/\\]hook""")


def _edited_settings(trace: Trace) -> list[str]:
    """A note if the session changed what decides about this hook."""
    texts = (text for step in trace.tool_calls for text in _given_to(step))
    if not any(_SETTINGS.search(text) or _FOLDERS.search(text) for text in texts):
        return []
    from trialrun.verification.ledger import session_of

    notes = []
    facts = session_of(trace).facts
    for change in facts.changes:
        given = f"{change.path}\n{change.new}\n{change.old}"
        if _SETTINGS.search(given) or _FOLDERS.search(change.path):
            name = change.path.rpartition("/")[2]
            notes.append(f"the session changed settings of this hook: {name} (step {change.step})")
    # A script that names them: nothing shows what it did with them.
    written = {one.step for one in facts.unknown if one.writes}
    written -= {one.step for one in facts.changes}
    for step in trace.tool_calls:
        if step.id in written and any(_SETTINGS.search(text) for text in _given_to(step)):
            notes.append(f"the session may have changed settings of this hook (step {step.id})")
    return notes


def _given_to(step: Step) -> list[str]:
    return strings_of(step.tool_args) if step.tool_args else []
