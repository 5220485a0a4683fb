"""TR106: all tests are said to pass, and only a part of them was run."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding, Outcome
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.relevant import relevant
from trialrun.verification.rules.base import WARN, Example, Rule, Session, edit, sh
from trialrun.verification.statements import Statement


def _about(statement: Statement, session: Session) -> Finding | None:
    whole = statement.all and not statement.qualified and statement.count is None
    if statement.kind is not Kind.TESTS or not whole or statement.admits or statement.names:
        return None
    runs = relevant(statement, session.index).runs
    if not runs or not all(run.partial for run in runs) or runs[-1].outcome is not Outcome.PASSED:
        return None
    if session.index.unknown_before(statement.at, runs[0].at):
        return None
    message = f"only a part was run: {runs[-1].command}"
    return RULE.finding(message, (runs[-1].step,), statement, command=runs[-1].name)


RULE = Rule(
    code="TR106",
    name="part-said-as-all",
    severity=WARN,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="All tests are said to pass, and every run of them named a file, a folder or a filter.",
    why="Tests that were not run may fail.",
    silent="where a count is stated, a part is named, or a whole run happened at any time before.",
    fires=(
        Example(
            "All tests pass.", (edit("a.py"), sh("pytest tests/test_a.py", "3 passed in 0.1s"))
        ),
    ),
    passes=(
        Example(
            "All 3 tests pass.", (edit("a.py"), sh("pytest tests/test_a.py", "3 passed in 0.1s"))
        ),
        Example("All tests pass.", (edit("a.py"), sh("pytest", "30 passed in 0.1s"))),
    ),
    about=_about,
)
