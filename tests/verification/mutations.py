"""Spoil a session mechanically, so that a claim that was verified no longer holds.

Three ways: the runs that the claim is about are removed (`removed`), the last edit of code that they
cover is moved behind them (`moved`), or the last of them is turned red (`red`). `spoiled` gives, for
each verified claim about a check, what each way made of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from trialrun import Step, Trace
from trialrun.model.ledger import HARMFUL, Claim, ClaimVerdict, Ledger
from trialrun.model.steps import StepStatus
from trialrun.verification.covers import Cover, covers
from trialrun.verification.facts import OBLIGING, Run
from trialrun.verification.ledger import audit, session_of
from trialrun.verification.relevant import CHECK_KINDS, relevant
from trialrun.verification.rules.base import Session
from trialrun.verification.statements import Statement

RED_OUTPUT = "1 failed, 3 passed in 0.51s\nFAILED\nerror: 1 error found"
WAYS = ("removed", "moved", "red")


@dataclass(frozen=True)
class Spoiled:
    """One claim in one spoiled session."""

    way: str
    statement: Statement
    run: Run
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
        found = relevant(statement, session.index)
        assert found.last is not None  # it was verified by a run
        for way, steps in _versions(trace, session, found.runs):
            after = claims_in_order(audit(_with_steps(trace, steps)))
            same = place < len(after) and after[place].text == statement.text
            yield Spoiled(way, statement, found.last, after[place] if same else None)


def _versions(
    trace: Trace, session: Session, runs: Sequence[Run]
) -> Iterator[tuple[str, list[Step]]]:
    ids = [step.id for step in trace.steps]
    dropped = {run.step for run in runs}
    yield "removed", [step for step in trace.steps if step.id not in dropped]
    last = runs[-1]
    edits = [
        change
        for change in session.facts.changes
        if change.at < last.at
        and change.sort in OBLIGING
        and change.verb in ("edit", "create")
        and covers(last, change) is Cover.YES
    ]
    if edits:
        steps = list(trace.steps)
        edit = steps.pop(ids.index(edits[-1].step))
        steps.insert(ids.index(last.step), edit)
        yield "moved", steps
    yield "red", [_red(step) if step.id == last.step else step for step in trace.steps]


def _red(step: Step) -> Step:
    metadata = {**step.metadata, "exit_code": 1}
    return replace(step, tool_result=RED_OUTPUT, status=StepStatus.FAILURE, metadata=metadata)


def _with_steps(trace: Trace, steps: Sequence[Step]) -> Trace:
    made = Trace(input=trace.input, output=trace.output, steps=steps, metadata=trace.metadata)
    made.recorded = trace.recorded
    return made


def counted(found: Sequence[Spoiled]) -> dict[str, Counter[str]]:
    """How often each way ended in each outcome."""
    return {way: Counter(one.outcome for one in found if one.way == way) for way in WAYS}
