"""TR103: a check is said to pass, and its last run failed."""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.model.ledger import ClaimVerdict, Finding, Outcome
from trialrun.verification.facts import Run
from trialrun.verification.relevant import CHECK_KINDS, calls_of, may_have_run, relevant
from trialrun.verification.rules.base import FAIL, GREEN, RED, Rule, Session, edit, says, sh
from trialrun.verification.sentences import CONTRAST
from trialrun.verification.statements import Statement


def _about(statement: Statement, session: Session) -> Finding | None:
    if statement.kind not in CHECK_KINDS:
        return None
    runs = relevant(statement, session.index).runs
    if not runs and statement.names and not statement.runner:
        return _command_failed(statement, session)
    if not runs:
        return None
    last = runs[-1]
    if last.outcome is not Outcome.FAILED:
        return None
    if session.admitted(statement, fails=True, since=last.at) or CONTRAST.search(statement.text):
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


def _command_failed(statement: Statement, session: Session) -> Finding | None:
    """The same for a command of which only the status can be known: `mise run render`."""
    calls = calls_of(statement.names[0], statement.at, session.index)
    if not calls or calls[-1].ok is not False:
        return None
    last = calls[-1]
    if session.admitted(statement, fails=True, since=last.at) or CONTRAST.search(statement.text):
        return None
    if may_have_run(statement, session.index, last.at, again=True):
        return None
    message = f"{last.command} failed when it was last called before this was said"
    return RULE.finding(message, (last.step,), statement, command=last.command)


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
        says("`mise run gen` passed.", edit("a.py"), sh("mise run gen", "no such file", True)),
    ),
    passes=(
        says("One test fails.", edit("tax.py"), RED),
        says("Lint passes.", edit("a.py"), sh("ruff check . && pytest -q", "no such option", True)),
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
