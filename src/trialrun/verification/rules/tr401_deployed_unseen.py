"""TR401: something is said to be deployed or live, and nothing was deployed or looked at."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.deeds import Deed
from trialrun.verification.rules.base import FAIL, GREEN, Rule, edit, says, sh

_DEED = Deed(
    Kind.DEPLOY,
    "deployment",
    ("deploy", "probe", "push", "merge", "ci"),
    ("deploy", "release", "publish"),
)

RULE: Rule = Rule(
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
    about=lambda statement, session: RULE.unless_done(statement, session, _DEED),
)
