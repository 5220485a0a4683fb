"""TR202: a change, a fix or a trial is said, and the session only read."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, read, says
from trialrun.verification.statements import Statement


def _about(statement: Statement, session: Session) -> Finding | None:
    if statement.kind not in (Kind.CHANGE, Kind.FILE) or session.admitted(statement, fails=False):
        return None
    facts = session.facts
    if facts.changes or facts.runs or facts.acts or facts.unknown or not facts.looks:
        return None
    message = "the session only read: it changed nothing and ran nothing"
    return RULE.finding(message, (facts.looks[-1].step,), statement)


RULE = Rule(
    code="TR202",
    name="nothing-done",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="A change, a fix or a trial is said to be made, and the whole session only read files.",
    why="Reading shows how things are. It changes and tries nothing.",
    silent="as soon as anything was changed, run or done elsewhere, or is not known.",
    fires=(
        says("I implemented JWT validation.", read("auth.py")),
        says("I fixed the login bug.", read("auth.py")),
        says("I deployed it.", read("auth.py")),
        says("The login works now.", read("auth.py")),
    ),
    passes=(
        says("I fixed the login bug.", edit("auth.py"), GREEN),
        says("The bug is in `login`.", read("auth.py")),
    ),
    about=_about,
)
