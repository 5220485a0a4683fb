"""`trialrun verify --facts`: what was recognised in a session, and what ran unrecognised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from trialrun.cli.output import put, say
from trialrun.cli.verify.project import Project
from trialrun.cli.verify.reading import Listed, opened
from trialrun.errors import NothingSelected
from trialrun.model.trace import Trace
from trialrun.reports.views.printable import escaped_json, one_line
from trialrun.util.texts import counted
from trialrun.verification.facts import Act, Change, Facts, Failed, Look, Run, Unknown
from trialrun.verification.ledger import session_of

Fact = Change | Run | Act | Look | Failed | Unknown
_SHOWN = 120


def show_facts(
    files: Sequence[Listed], unread: Sequence[str], project: Project, as_json: bool
) -> int:
    """Print the facts of every session. The exit code of the command."""
    problems = list(unread)
    documents: list[dict[str, Any]] = []
    read = 0
    for one in opened(files):
        problems += one.problems
        for trace in one.traces:
            read += 1
            facts = session_of(trace, project.settings(trace.metadata.get("cwd"))).facts
            name = trace.name or trace.id or one.file.name
            if as_json:
                documents.append({"name": name, **_plain(facts)})
            else:
                put("".join(f"{line}\n" for line in fact_lines(name, trace, facts)))
    if not read and not problems:
        raise NothingSelected("there is no run in these files")
    if as_json:
        text = msgspec.json.format(msgspec.json.encode({"sessions": _masked(documents)}), indent=2)
        put(escaped_json(text.decode()) + "\n", for_machines=True)
    for problem in problems:
        say(problem)
    return 3 if problems else 0


def fact_lines(name: str, trace: Trace, facts: Facts) -> Iterator[str]:
    """The facts in the order of the session, then what was not recognised."""
    state = "finished" if facts.finished else "not finished"
    folder = f", in {one_line(facts.root)}" if facts.root else ""
    yield f"{one_line(name)}: {counted(facts.calls, 'call')}{folder}, {state}"
    if trace.tool_calls and not facts.results_recorded:
        yield "  arguments or results of its calls are not recorded"
    for fact in in_order(facts):
        yield f"  {fact.step:>6}  {_WORDS[type(fact)]:<8} {_cut(_described(fact, facts))}"
    if facts.unknown:
        yield f"  not recognised: {counted(len(facts.unknown), 'command or tool')}"
        for one in facts.unknown:
            yield f"  {one.step:>6}  {_cut(one.command)}"
    else:
        yield "  everything that ran was recognised"


_WORDS = {Change: "change", Run: "run", Act: "act", Look: "look", Failed: "failed", Unknown: "?"}


def in_order(facts: Facts) -> list[Fact]:
    """Everything that was recognised, by its position in the session."""
    found: list[Fact] = [
        *facts.changes,
        *facts.runs,
        *facts.acts,
        *facts.looks,
        *facts.failed,
    ]
    return sorted(found, key=lambda fact: fact.at)


def _cut(text: str) -> str:
    line = one_line(" ".join(text.split()))
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def _described(fact: Fact, facts: Facts) -> str:
    if isinstance(fact, Change):
        agent = f", subagent {fact.agent}" if fact.agent else ""
        return f"{fact.verb} {_short(fact.path, facts)} ({fact.sort.value}, by {fact.by}{agent})"
    if isinstance(fact, Run):
        why = f": {fact.why.value}" if fact.why else (f": {fact.line}" if fact.line else "")
        part = " part" if fact.partial else ""
        return f"{fact.outcome.value:<7} {fact.kind}{part}, {fact.command}{why}"
    if isinstance(fact, Act):
        state = {True: "done", False: "failed", None: "result unknown"}[fact.ok]
        return f"{fact.kind} {fact.target} ({state})"
    if isinstance(fact, Look):
        return f"{fact.kind} {_short(fact.path, facts)}"
    if isinstance(fact, Failed):
        return f"change of {_short(fact.path, facts)}"
    return fact.command


def _short(path: str, facts: Facts) -> str:
    return path.removeprefix(facts.root + "/") if facts.root else path


def _plain(facts: Facts) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(facts, enc_hook=sorted)
    del plain["texts"]
    return plain


def _masked(value: Any) -> Any:
    from trialrun.redaction import Redactor

    return Redactor().plain(value)
