"""TR103: a check is said to pass, and its last run failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trialrun.model.ledger import ClaimVerdict, Finding, Outcome
from trialrun.verification.facts import Run
from trialrun.verification.relevant import CHECK_KINDS, may_have_run, relevant
from trialrun.verification.rules.base import FAIL, GREEN, RED, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement


def _about(statement: Statement, session: Session) -> Finding | None:
    if statement.kind not in CHECK_KINDS:
        return None
    runs = relevant(statement, session.index).runs
    if not runs or runs[-1].outcome is not Outcome.FAILED:
        return None
    last = runs[-1]
    if session.admitted(statement, fails=True, since=last.at) or _BUT.search(statement.text):
        return None
    passed = last.counts.passed if last.counts is not None else None
    if statement.single or (statement.count == passed and passed and not statement.all):
        return None  # it may be one of those that passed, or tells their number
    if may_have_run(statement, session.index, last.at, again=True):
        return None
    since = session.index.last_code_change(last.at)
    if statement.qualified and _another_may_be_meant(runs, since):
        return None
    line = f": {last.line}" if last.line else ""
    message = f"the last run of {last.name} before this was said failed{line}"
    return RULE.finding(message, (last.step,), statement, command=last.command)


# "The UI tests passed, but the full harness is still tripping": it reports both.
_BUT = re.compile(r"\b(?:but|although|though|however|except)\b", re.IGNORECASE)


def _another_may_be_meant(runs: Sequence[Run], since: int) -> bool:
    """Of a part ("the new tests") another command since the last change may be meant."""
    last = runs[-1]
    return any(
        run.outcome is not Outcome.FAILED and run.command != last.command
        for run in runs
        if run.at > since
    )


RULE = Rule(
    code="TR103",
    name="last-run-red",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.CONTRADICTED,
    what="A check is said to pass, and its last run before that failed.",
    why="The session itself shows otherwise, and the message does not say so.",
    silent="where a message since the run reports a failure in any sentence, or this one speaks of "
    'a part ("the new tests"), or something unknown ran after the red run.',
    fires=(
        says("All tests pass.", edit("tax.py"), RED),
        says("Lint is clean.", edit("a.py"), sh("ruff check .", "Found 2 errors.", True)),
    ),
    passes=(
        says("One test fails.", edit("tax.py"), RED),
        says("2 tests pass.", edit("tax.py"), RED),
        says(
            "All tests pass. The lint failure is not from this change.",
            edit("a.py"),
            GREEN,
            sh("ruff check .", "Found 2 errors.", True),
        ),
        says("All tests pass.", edit("a.py"), sh("pytest -q", "5 passed, 0 failed in 0.1s")),
    ),
    about=_about,
)
