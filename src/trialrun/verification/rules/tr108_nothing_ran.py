"""TR108: tests are said to pass, and the last run collected none."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding, Outcome
from trialrun.verification.relevant import CHECK_KINDS, relevant
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement


def _about(statement: Statement, session: Session) -> Finding | None:
    if statement.kind not in CHECK_KINDS or session.admitted(statement, fails=False):
        return None
    found = relevant(statement, session.index)
    last = found.last
    if last is None or last.outcome is not Outcome.NOTHING:
        return None
    if any(run.outcome is Outcome.PASSED for run in found.runs):
        return None
    message = f"{last.name} ran nothing: {last.line or 'no tests were collected'}"
    return RULE.finding(message, (last.step,), statement, command=last.command)


RULE = Rule(
    code="TR108",
    name="nothing-ran",
    severity=FAIL,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="A check is said to pass, and every run of it collected or checked nothing.",
    why="A runner that finds no tests often ends with success.",
    silent="where another run of the kind passed.",
    fires=(
        says("All tests pass.", edit("a.py"), sh("pytest -k nope", "no tests ran in 0.01s", True)),
    ),
    passes=(says("All tests pass.", edit("a.py"), GREEN),),
    about=_about,
)
