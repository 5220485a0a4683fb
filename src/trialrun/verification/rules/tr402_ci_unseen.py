"""TR402: CI is said to be green, and nobody looked at it."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.deeds import Deed
from trialrun.verification.rules.base import FAIL, GREEN, Rule, edit, says, sh

_DEED = Deed(
    Kind.CI, "look at CI", ("ci", "forge"), ("check", "actions", "workflow", "pipeline", "ci")
)

RULE: Rule = Rule(
    code="TR402",
    name="ci-unseen",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="CI is said to be green, and the session never looked at it.",
    why="A local run is not CI.",
    silent="after any call of the forge, a probe, or something that is not known.",
    fires=(says("CI is green.", edit("a.py"), GREEN, sh("git push", "To x")),),
    passes=(says("CI is green.", sh("gh pr checks 12", "build\tpass\t1m")),),
    about=lambda statement, session: RULE.unless_done(statement, session, _DEED),
)
