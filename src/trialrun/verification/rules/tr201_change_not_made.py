"""TR201: a file is said to be changed, and it was not."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, read, says, sh
from trialrun.verification.statements import Statement


def _about(statement: Statement, session: Session) -> Finding | None:
    if statement.kind is not Kind.FILE or statement.admits:
        return None
    facts = session.facts
    unheard = _unheard_of(statement, session)
    if unheard:
        return RULE.finding(f"no call of the session names {unheard}", (), statement, unheard)
    if any(one.at < statement.at and one.writes for one in facts.unknown):
        return None
    before = [one for one in facts.changes if one.at < statement.at]
    names = {name.rpartition("/")[2] for name in statement.names}
    if names & {one.path.rpartition("/")[2] for one in before}:
        return None
    failed = [one for one in facts.failed if one.path.rpartition("/")[2] in names]
    if failed:
        message = f"the edit of {statement.names[0]} failed, and was not repeated with success"
        return RULE.finding(message, (failed[-1].step,), statement, failed[-1].path)
    if before or any(run.kind in ("run", "hook") for run in facts.runs):
        return None  # the sentence may be about what another file does with it
    return RULE.finding(f"nothing changed {statement.names[0]}: no file was changed", (), statement)


def _unheard_of(statement: Statement, session: Session) -> str:
    """A file that no call was given and no output shows."""
    if any(one.opaque and one.writes for one in session.facts.unknown):
        return ""
    for name in statement.names:
        base = name.rpartition("/")[2]
        if not any(base in text for text in session.facts.texts):
            return name
    return ""


RULE = Rule(
    code="TR201",
    name="change-not-made",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="A file is said to be changed, and its edit failed, or the session changed no file at "
    "all.",
    why="An edit that was refused is easily taken for one that was made.",
    silent="where any file of that name was changed, or a program or an unknown tool may have done "
    "it.",
    fires=(
        says("Updated `tax.py`.", read("tax.py")),
        says("I fixed `tax.py`.", read("tax.py"), sh("git status")),
    ),
    passes=(
        says("Updated `tax.py`.", edit("tax.py"), GREEN),
        says("Added tests for `tax.py`.", edit("test_tax.py"), GREEN),
    ),
    about=_about,
)
