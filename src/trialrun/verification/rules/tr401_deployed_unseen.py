"""TR401: something is said to be deployed or live, and nothing was deployed or looked at."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.relevant import Deed, act_missing
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement

_DEED = Deed(
    "deployment", ("deploy", "probe", "push", "merge", "ci"), ("deploy", "release", "publish")
)


def _about(statement: Statement, session: Session) -> Finding | None:
    missing = act_missing(statement, Kind.DEPLOY, _DEED, session.index)
    return None if missing is None else RULE.finding(missing[0], missing[1], statement)


RULE = Rule(
    code="TR401",
    name="deployed-unseen",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="A change is said to be deployed, released or live, and the session deployed, pushed and "
    "probed nothing.",
    why="What is said to be live is not looked at again.",
    silent="after any push, merge, deployment or probe, and after anything that is not known.",
    fires=(says("The fix is deployed to production.", edit("a.py"), GREEN),),
    passes=(
        says("The fix is deployed to production.", sh("kubectl apply -f k8s.yaml", "configured")),
    ),
    about=_about,
)
