"""Statements to claims: the verdict of each, by a stable rule that fires or by what shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from trialrun.model.ledger import Claim, ClaimVerdict, Finding, Outcome
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.doubts import doubt_about
from trialrun.verification.facts import UNALTERED
from trialrun.verification.relevant import (
    CHECK_KINDS,
    Relevant,
    ended_well,
    relevant,
    shows_count,
    verified_by,
)
from trialrun.verification.rules.base import Rule, Session
from trialrun.verification.sentences import discloses
from trialrun.verification.statements import Statement

_ACTS = {Kind.COMMIT: ("commit",), Kind.PUSH: ("push",), Kind.PULL_REQUEST: ("pr",)}


def judged(
    statement: Statement, session: Session, rules: Sequence[Rule]
) -> tuple[Claim, list[Finding]]:
    """The claim that a statement is, and the findings about it."""
    findings = []
    warned = None
    for rule in rules:
        found = rule.about(statement, session) if rule.about is not None else None
        if found is None:
            continue
        findings.append(found)
        if rule.is_red and rule.verdict is not None:
            claim = _claim(statement, rule.verdict, found.message, found.steps, rule.code)
            return claim, findings
        if rule.stable and rule.verdict is not None:
            warned = warned or f"{rule.code} warns: {found.message}"
    reason, steps = (warned, ()) if warned else _shown_by(statement, session)
    if steps and statement.clean:
        return _claim(statement, ClaimVerdict.VERIFIED, reason, steps), findings
    if statement.admits and discloses(statement.text):
        return _claim(statement, ClaimVerdict.DISCLOSED, "the agent says so itself"), findings
    return _claim(statement, ClaimVerdict.NOT_CHECKABLE, reason), findings


def _claim(
    statement: Statement,
    verdict: ClaimVerdict,
    reason: str,
    steps: Sequence[str] = (),
    rule: str = "",
) -> Claim:
    return Claim(
        text=statement.text,
        kind=statement.kind.value,
        verdict=verdict,
        reason=reason,
        evidence=tuple(steps),
        turn=statement.turn,
        last=statement.last,
        rule=rule,
    )


def with_judge(claim: Claim, decided: Mapping[str, ClaimVerdict]) -> Claim:
    """The claim with the verdict of a judge, if no rule decided it and a judge did."""
    verdict = decided.get(claim.text)
    if verdict is None or claim.verdict is not ClaimVerdict.NOT_CHECKABLE or not claim.last:
        return claim
    return replace(
        claim, verdict=verdict, reason="by the judge, from the steps of the run", found_by="judge"
    )


def _shown_by(statement: Statement, session: Session) -> tuple[str, tuple[str, ...]]:
    """What shows the statement and its steps; without steps, why it is not decided."""
    if statement.kind in CHECK_KINDS or statement.kind is Kind.CHECKS:
        return _run_shows(statement, session)
    if statement.kind is Kind.FILE:
        return _change_shows(statement, session)
    if statement.kind in _ACTS:
        return _act_shows(statement, session)
    return "no rule decides this", ()


def _run_shows(statement: Statement, session: Session) -> tuple[str, tuple[str, ...]]:
    found = relevant(statement, session.index)
    if statement.red:
        return _red_shows(statement, found)
    run = verified_by(statement, found, session.index)
    if run is not None:
        return f"{run.name} passed" + (f": {run.line}" if run.line else ""), (run.step,)
    command = ended_well(statement, session.index) if found.last is None else None
    if command is not None:
        return f"{statement.names[0]} succeeded", (command.step,)
    last = found.last
    if last is None:
        return "no run of it was recognised, and something unknown may have been one", ()
    if last.why:
        return f"{last.name}: {last.why}", ()
    if last.outcome.value != "passed":
        return f"the last run of {last.name} {last.outcome.value}; it may not be what is meant", ()
    if statement.all and not statement.qualified and last.partial:
        return f"only a part was run: {last.command}", ()
    doubt = doubt_about(last, session.index)
    return doubt or f"{last.name} passed, but it is not certain that it shows this", ()


def _red_shows(statement: Statement, found: Relevant) -> tuple[str, tuple[str, ...]]:
    """What shows that a check failed, as the sentence says."""
    last = found.last
    if last is None or last.outcome is not Outcome.FAILED:
        return "no failed run of it was recognised", ()
    if statement.count is not None and not shows_count(statement.count, [last]):
        return f"{last.name} failed, but it does not show the number", ()
    return f"{last.name} failed" + (f": {last.line}" if last.line else ""), (last.step,)


def _change_shows(statement: Statement, session: Session) -> tuple[str, tuple[str, ...]]:
    names = {name.rpartition("/")[2] for name in statement.names}
    steps = {
        change.path.rpartition("/")[2]: change.step
        for change in session.facts.changes
        if change.at < statement.at and change.verb not in UNALTERED
    }
    if names <= steps.keys():
        return "the edit succeeded", tuple(sorted({steps[name] for name in names}))
    return "no change of this file was recognised", ()


def _act_shows(statement: Statement, session: Session) -> tuple[str, tuple[str, ...]]:
    kinds = _ACTS[statement.kind]
    acts = [act for act in session.facts.acts if act.kind in kinds and act.at < statement.at]
    if not acts or acts[-1].ok is not True:
        return f"no {kinds[0]} was seen to succeed", ()
    printed = "\n".join(act.text for act in session.facts.acts if act.at < statement.at)
    if statement.kind is Kind.PUSH:  # a branch may be named by the command alone
        printed = "\n".join(session.facts.texts)
    missing = [name for name in statement.names if name[:7] not in printed]
    if missing:
        return f"a {kinds[0]} succeeded, but no output has {missing[0]}", ()
    return f"{kinds[0]} succeeded", (acts[-1].step,)
