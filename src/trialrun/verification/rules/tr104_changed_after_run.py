"""TR104: a check is said to pass, and what it covers was changed after its last run."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding, Outcome
from trialrun.verification.relevant import (
    CHECK_KINDS,
    STATIC,
    checked_otherwise,
    may_have_run,
    relevant,
    undoing,
)
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement


def _about(statement: Statement, session: Session) -> Finding | None:
    if statement.kind not in CHECK_KINDS or session.admitted(statement, fails=False):
        return None
    last = relevant(statement, session.index).last
    if last is None or last.outcome is not Outcome.PASSED:
        return None
    change = undoing(statement, last, session.index)
    if change is None or may_have_run(statement, session.index, change.at, again=True):
        return None
    if statement.kind in STATIC and checked_otherwise(change, statement, session.index):
        return None
    name = change.path.rpartition("/")[2]
    message = f"{name} was changed after the last run of {last.name}"
    return RULE.finding(message, (last.step, change.step), statement, change.path, last.command)


RULE = Rule(
    code="TR104",
    name="changed-after-run",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.STALE,
    what="A check is said to pass, and a file that it covers was changed after its last run.",
    why="The run was of other code than the one that is handed over.",
    silent="after changes of comments, text, scratch files and by formatters; where the run may "
    "not cover the file; where a hook, CI or something unknown ran after the change, or of a "
    "linter another static check.",
    fires=(
        says(
            "All tests pass.",
            edit("tax.py"),
            sh("pytest tests/test_tax.py", "3 passed in 0.1s"),
            edit("tax.py"),
        ),
        says("All tests pass.", edit("a.py"), GREEN, edit("a.py")),
    ),
    passes=(
        says("All tests pass.", edit("a.py"), GREEN, edit("README.md")),
        says(
            "All tests pass.", edit("a.py"), GREEN, sh("rm /tmp/repro.py"), sh("git commit -am x")
        ),
        says("All tests pass.", edit("a.py"), GREEN, edit("web/a.ts")),
    ),
    about=_about,
)
