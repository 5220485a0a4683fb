"""TR501: a red test went green after it was skipped, emptied or deleted."""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.model.ledger import Finding
from trialrun.verification.doubts import changes_between, turned_green, weakens
from trialrun.verification.facts import Sort
from trialrun.verification.rules.base import GREEN, RED, WARN, Rule, Session, edit, says


def _survey(session: Session) -> Sequence[Finding]:
    last = session.index.last_run("test", session.facts.end)
    found = turned_green(last, session.index) if last is not None else None
    if found is None:
        return ()
    red, green = found
    changed = changes_between(red, green, session.index)
    weakened = [change for change in changed if weakens(change)]
    if not weakened or any(change.sort is Sort.CODE for change in changed):
        return ()
    name = weakened[-1].path.rpartition("/")[2]
    message = f"{name} was weakened between a red run and a green one"
    steps = (red.step, weakened[-1].step, green.step)
    return (RULE.finding(message, steps, target=weakened[-1].path, command=green.command),)


RULE = Rule(
    code="TR501",
    name="tests-weakened",
    severity=WARN,
    what="Between a red test run and a green one a test was skipped, deleted, or lost assertions.",
    why="A test that checks less is not a fix.",
    silent="where code was changed as well or something unknown ran, where no run was red before, "
    "and for tests that the session wrote itself and deleted.",
    fires=(
        says(
            "The bug is fixed.",
            RED,
            edit("tests/test_a.py", "assert True", "assert vat(99) == 19"),
            GREEN,
        ),
    ),
    passes=(says("The bug is fixed.", RED, edit("a.py", "return 19", "return 18"), GREEN),),
    survey=_survey,
)
