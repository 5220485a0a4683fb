"""Spoil a session mechanically, so that a claim that was verified no longer holds.

Three ways: the runs that the claim is about are removed (`removed`), the last edit of code that
they cover is moved behind them (`moved`), or the last of them is turned red (`red`). `spoiled`
gives, for each verified claim about a check, what each way made of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from trialrun import Step, Trace
from trialrun.model.ledger import HARMFUL, Claim, ClaimVerdict, Ledger
from trialrun.model.steps import StepStatus
from trialrun.verification.claim_kinds import RUN_KINDS, Kind
from trialrun.verification.covers import Cover, covers
from trialrun.verification.facts import OBLIGING, Run, Unknown
from trialrun.verification.ledger import audit, session_of
from trialrun.verification.relevant import CHECK_KINDS, Wanted, calls_of, may_include, relevant
from trialrun.verification.rules.base import Session
from trialrun.verification.statements import Statement

RED_OUTPUT = {
    "test": "FAILED\n1 failed, 3 passed in 0.51s",
    "lint": "src/a:3:1: error: unused name\nFound 1 error.",
    "types": "src/a:3:1: error: incompatible types\nFound 1 error in 1 file.",
    "build": "src/a:3:1: error: unexpected token\nerror: build failed",
    "hook": "src/a:3:1: error: unused name\nhusky - pre-commit script failed (code 1)",
}
"""What a red run prints, by its kind, and for some programs what they really print."""

RED_BY_NAME = {
    "golangci-lint": "a.go:3:1: unused name (unused)\n1 issues:\n* unused: 1",
    "ruff": "a.py:3:1: F401 `os` imported but unused\nFound 1 error.",
    "ty": "error[unresolved-import]: Cannot resolve\nFound 1 diagnostic",
    "mypy": "a.py:3: error: Incompatible types\nFound 1 error in 1 file (checked 3 source files)",
    "tsc": "src/a.ts(3,1): error TS2304: Cannot find name 'x'.",
    "eslint": "  3:1  error  unused name  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)",
    "biome": "a.ts:3:1 lint/unused\n\nFound 1 error.",
    "prettier": "[warn] a.ts\n[warn] Code style issues found in the above file.",
}
WAYS = ("removed", "moved", "red")


@dataclass(frozen=True)
class Spoiled:
    """One claim in one spoiled session."""

    way: str
    statement: Statement
    claim: Claim | None

    @property
    def outcome(self) -> str:
        """`red`, or the verdict that the claim has."""
        if self.claim is None:
            return "gone"
        return "red" if self.claim.verdict in HARMFUL else self.claim.verdict.value


def claims_in_order(ledger: Ledger) -> list[Claim]:
    """All claims, in the order of the session's statements."""
    return [*ledger.earlier, *ledger.claims]


def spoiled(trace: Trace) -> Iterator[Spoiled]:
    """Every verified claim about a check, spoiled in each way that applies."""
    ledger = audit(trace)
    if ledger.no_verdict:
        return
    session = session_of(trace)
    statements = [one for spoken in session.spoken for one in spoken.statements]
    for place, claim in enumerate(claims_in_order(ledger)):
        statement = statements[place]
        if claim.verdict is not ClaimVerdict.VERIFIED or statement.kind not in CHECK_KINDS:
            continue
        if statement.red:
            continue  # "2 tests fail": spoiled, it is no claim that accuses anybody
        for way, steps in _versions(trace, session, statement):
            after = claims_in_order(audit(_with_steps(trace, steps)))
            same = place < len(after) and after[place].text == statement.text
            yield Spoiled(way, statement, after[place] if same else None)


def _versions(
    trace: Trace, session: Session, statement: Statement
) -> Iterator[tuple[str, list[Step]]]:
    ids = [step.id for step in trace.steps]
    last, dropped = _shown_by(session, statement)
    yield "removed", [step for step in trace.steps if step.id not in dropped]
    edits = [
        change
        for change in session.facts.changes
        if change.at < last.at
        and change.sort in OBLIGING
        and change.verb in ("edit", "create")
        and (isinstance(last, Unknown) or covers(last, change) is Cover.YES)
    ]
    if edits:
        steps = list(trace.steps)
        edit = steps.pop(ids.index(edits[-1].step))
        steps.insert(ids.index(last.step), edit)
        yield "moved", steps
    yield (
        "red",
        [_red(step, last) if step.id == last.step else step for step in trace.steps],
    )


def _shown_by(session: Session, statement: Statement) -> tuple[Run | Unknown, set[str]]:
    """What shows the statement, and the steps of everything that may show it."""
    last = relevant(statement, session.index).seen
    if last is None:  # a command of which only the status is known
        calls = calls_of(statement.names[0], statement.at, session.index)
        return calls[-1], {one.step for one in calls}
    kind = RUN_KINDS.get(statement.kind, "")
    shows = [
        run for run in session.facts.runs if run.kind != "run" and may_include(run, Wanted(kind))
    ]
    if statement.kind is Kind.COMMAND:
        shows = [run for run in session.facts.runs if run.name == last.name]
    return last, {step for run in shows for step in (run.step, *run.steps)}


def _red(step: Step, run: Run | Unknown) -> Step:
    metadata = {**step.metadata, "exit_code": 1}
    output = "error: 1 error"
    if isinstance(run, Run):
        output = RED_BY_NAME.get(run.name.split()[0]) or RED_OUTPUT.get(run.kind, output)
    return replace(step, tool_result=output, status=StepStatus.FAILURE, metadata=metadata)


def _with_steps(trace: Trace, steps: Sequence[Step]) -> Trace:
    made = Trace(input=trace.input, output=trace.output, steps=steps, metadata=trace.metadata)
    made.recorded = trace.recorded
    return made


def counted(found: Sequence[Spoiled]) -> dict[str, Counter[str]]:
    """How often each way ended in each outcome."""
    return {way: Counter(one.outcome for one in found if one.way == way) for way in WAYS}
