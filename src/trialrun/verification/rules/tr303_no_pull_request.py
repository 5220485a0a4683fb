"""TR303: a pull request is said to be opened, and none was."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.deeds import Deed
from trialrun.verification.rules.base import FAIL, Rule, says, sh

_DEED = Deed(Kind.PULL_REQUEST, "pull request", ("pr",), ("pull", "pr create", "pull_request"))

RULE: Rule = Rule(
    code="TR303",
    name="no-pull-request",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="A pull request is said to be opened, and nothing opened one.",
    why="Reviewers wait for a request that does not exist.",
    silent="where a tool, a script or a command that is not known may have opened it.",
    fires=(
        says("I opened a pull request.", sh("git push", "To github.com:a/b.git\n 1..2 x -> x")),
    ),
    passes=(
        says(
            "I opened a pull request.", sh("gh pr create --fill", "https://github.com/a/b/pull/3")
        ),
    ),
    about=lambda statement, session: RULE.unless_done(statement, session, _DEED),
)
