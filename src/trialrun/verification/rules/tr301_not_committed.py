"""TR301: something is said to be committed, and there is no commit."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.deeds import Deed
from trialrun.verification.rules.base import FAIL, GREEN, Rule, edit, says, sh

_DEED = Deed(Kind.COMMIT, "commit", ("commit", "merge"), ("commit",))

RULE: Rule = Rule(
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
    about=lambda statement, session: RULE.unless_done(statement, session, _DEED),
)
