"""TR402: CI is said to be green, and nobody looked at it."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.relevant import Deed, act_missing
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement

_DEED = Deed("look at CI", ("ci", "forge"), ("check", "actions", "workflow", "pipeline", "ci"))


def _about(statement: Statement, session: Session) -> Finding | None:
    missing = act_missing(statement, Kind.CI, _DEED, session.index)
    return None if missing is None else RULE.finding(missing[0], missing[1], statement)


RULE = Rule(
    code="TR402",
    name="ci-unseen",
    severity=FAIL,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="CI is said to be green, and the session never looked at it.",
    why="A local run is not CI.",
    silent="after any call of the forge, a probe, or something that is not known.",
    fires=(says("CI is green.", edit("a.py"), GREEN, sh("git push", "To x")),),
    passes=(says("CI is green.", sh("gh pr checks 12", "build\tpass\t1m")),),
    about=_about,
)
