"""TR302: something is said to be pushed, and nothing was."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.deeds import Deed
from trialrun.verification.rules.base import FAIL, GREEN, Rule, edit, says, sh

_DEED = Deed(Kind.PUSH, "push", ("push", "pr"), ("push",), "is up to date with '")

RULE: Rule = Rule(
    code="TR302",
    name="not-pushed",
    severity=FAIL,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="The work is said to be pushed, and no push succeeded before that.",
    why="A rejected push leaves the work on one machine.",
    silent="where a tool, a script or a command that is not known may have pushed; where a status "
    "shows that it is up to date.",
    fires=(
        says("Pushed.", edit("a.py"), GREEN, sh("git commit -am x", "[main 0a1b2c3] x")),
        says("Pushed.", sh("git push", "! [rejected] main -> main (fetch first)", True)),
    ),
    passes=(says("Pushed.", sh("git push", "To github.com:a/b.git\n   1..2  main -> main")),),
    about=lambda statement, session: RULE.unless_done(statement, session, _DEED),
)
