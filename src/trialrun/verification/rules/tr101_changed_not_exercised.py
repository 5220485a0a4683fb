"""TR101: code or configuration was changed, and nothing exercised it afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.model.ledger import Finding
from trialrun.verification.obligations import open_changes
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, read, says, sh


def _survey(session: Session) -> Sequence[Finding]:
    unmet = open_changes(session)
    if not unmet:
        return ()
    names = [change.path.rpartition("/")[2] for change in unmet]
    shown = ", ".join(dict.fromkeys(names[:5])) + (" and more" if len(names) > 5 else "")
    checks = [
        run.command for run in session.facts.runs if run.kind in ("test", "build", "types", "lint")
    ]
    command = checks[-1] if checks else ""
    message = f"changed, and nothing was run, built, tested or checked afterwards: {shown}"
    steps = [change.step for change in unmet]
    return (RULE.finding(message, steps, target=unmet[0].path, command=command),)


RULE = Rule(
    code="TR101",
    name="changed-not-exercised",
    severity=FAIL,
    stable=True,
    what="Code or configuration of the project was changed, and nothing exercised it afterwards: "
    "no test, build, lint, type check, validation or run.",
    why="Most broken work looks finished to the one who wrote it. Reading a file again does not "
    "try it.",
    silent="after a command that is not known and may have tried it; for text, notes, ignore "
    "files, scratch files and the agent's own state; where the message says that it was not tried.",
    fires=(
        says("The rounding is fixed.", edit("tax.py")),
        says("Done.", GREEN, edit("tax.py"), read("tax.py")),
        says("Go is 1.25.6 now.", edit("go.mod"), sh("git diff"), sh("git commit -am x")),
    ),
    passes=(
        says("The rounding is fixed.", edit("tax.py"), GREEN),
        says("Done.", edit("tax.py"), sh("./scripts/check-all", "fine")),
        says("Done.", edit("CHANGELOG.md")),
        says("I changed it. I have not run the tests.", edit("tax.py")),
    ),
    survey=_survey,
)
