"""TR105: a number of tests is said to pass that no output shows."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.facts import Run
from trialrun.verification.relevant import relevant, shows_count
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement


def _about(statement: Statement, session: Session) -> Finding | None:
    count = statement.count
    if statement.kind is not Kind.TESTS or count is None or count < 2 or statement.admits:
        return None
    runs = relevant(statement, session.index).runs
    if not any(run.counts is not None for run in runs) or any(_is_cut(run) for run in runs):
        return None
    if str(count) in session.index.words or shows_count(
        count, [*runs, *_others(session, statement)]
    ):
        return None
    last = runs[-1]
    shown = f"; the last one says {last.counts}" if last.counts is not None else ""
    message = f"no output of the session has the number {count:,}{shown}"
    return RULE.finding(message, (last.step,), statement, command=last.command)


def _is_cut(run: Run) -> bool:
    """Whether the recording keeps only a part of the output."""
    return "truncated" in run.text or "too large" in run.text or not run.text.strip()


def _others(session: Session, statement: Statement) -> list[Run]:
    return [run for run in session.facts.runs if run.at < statement.at][-40:]


RULE = Rule(
    code="TR105",
    name="count-not-shown",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.CONTRADICTED,
    what="A number of passing tests is stated that no output of the session shows.",
    why="A figure that no output has was made up, or copied from another run.",
    silent="where no run printed a count, an output was cut off, where counts add up to the "
    "number, or any output has it.",
    fires=(says("All 417 tests pass.", edit("a.py"), GREEN),),
    passes=(
        says("All 3 tests pass.", edit("a.py"), GREEN),
        says(
            "All 5 tests pass.",
            edit("a.py"),
            sh("pytest a", "3 passed in 0.1s"),
            sh("pytest b", "2 passed in 0.1s"),
        ),
    ),
    about=_about,
)
