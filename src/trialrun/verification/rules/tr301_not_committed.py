"""TR301: something is said to be committed, and there is no commit."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.relevant import Deed, act_missing
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement

_DEED = Deed("commit", ("commit", "merge"), ("commit",))


def _about(statement: Statement, session: Session) -> Finding | None:
    missing = act_missing(statement, Kind.COMMIT, _DEED, session.index)
    return None if missing is None else RULE.finding(missing[0], missing[1], statement)


RULE = Rule(
    code="TR301",
    name="not-committed",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="The work is said to be committed, and no commit succeeded before that.",
    why="Who relies on it looks for a commit that is not there.",
    silent="where a tool, a script or a command that is not known may have committed.",
    fires=(
        says("Committed.", edit("a.py"), GREEN, sh("git status")),
        says("Committed.", edit("a.py"), GREEN, sh("git commit -am x", "hook failed", True)),
    ),
    passes=(says("Committed.", edit("a.py"), GREEN, sh("git commit -am x", "[main 0a1b2c3] x")),),
    about=_about,
)
