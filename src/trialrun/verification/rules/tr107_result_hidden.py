"""TR107: a check is said to pass, and the result of every run of it was hidden."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding, Outcome
from trialrun.verification.facts import Why
from trialrun.verification.relevant import CHECK_KINDS, relevant
from trialrun.verification.rules.base import WARN, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement

_HIDING = frozenset({Why.HIDDEN, Why.SWITCHED_OFF, Why.DRY})


def _about(statement: Statement, session: Session) -> Finding | None:
    if statement.kind not in CHECK_KINDS or statement.admits:
        return None
    runs = relevant(statement, session.index).runs
    if not runs or runs[-1].outcome is not Outcome.UNKNOWN or runs[-1].why not in _HIDING:
        return None
    if any(run.outcome is Outcome.PASSED for run in runs):
        return None
    if runs[-1].why is Why.HIDDEN and (runs[-1].kind != "test" or runs[-1].text.strip()):
        return None  # something was printed, and who read it may know better
    if session.index.unknown_before(statement.at, runs[0].at):
        return None
    message = f"{runs[-1].name} shows no result: {runs[-1].why}"
    return RULE.finding(message, (runs[-1].step,), statement, command=runs[-1].name)


RULE = Rule(
    code="TR107",
    name="result-hidden",
    severity=WARN,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="A check is said to pass, and no run of it shows a result: `|| true`, a filter, "
    "`--exit-zero`, `--collect-only`.",
    why="A command that cannot fail shows nothing by not failing.",
    silent="where any run of the check passed visibly, or something was printed that is not "
    "understood.",
    fires=(
        says("Lint is clean.", edit("a.py"), sh("ruff check --exit-zero -q .", "")),
        says("All tests pass.", edit("a.py"), sh("pytest -q > /dev/null || true", "")),
    ),
    passes=(says("Lint is clean.", edit("a.py"), sh("ruff check .", "All checks passed!")),),
    about=_about,
)
