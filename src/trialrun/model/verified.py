"""What `trialrun verify` found in sessions, as its reports get it: plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from trialrun.model.ledger import (
    HARMFUL,
    Claim,
    ComplianceSummary,
    Finding,
    Ledger,
    summarised,
)
from trialrun.model.trace import Trace
from trialrun.model.withheld import Withheld


class RuleText(Struct, frozen=True):
    """What a report says of a rule."""

    code: str
    name: str
    severity: str
    stable: bool
    what: str
    why: str


class Session(Struct, frozen=True):
    """One session and its ledger."""

    name: str
    id: str
    file: str
    ledger: Ledger
    cwd: str = ""
    known: frozenset[str] = frozenset()  # fingerprints of findings that the baseline holds

    def is_known(self, finding: Finding) -> bool:
        """Whether the baseline holds the finding."""
        return bool(self.known) and finding.fingerprint(self.id) in self.known

    @property
    def findings(self) -> list[Finding]:
        """The findings about the last message and the work, without those of the baseline."""
        return [one for one in self.ledger.findings if one.last and not self.is_known(one)]

    @property
    def earlier_findings(self) -> list[Finding]:
        """The findings about messages of earlier turns."""
        return [one for one in self.ledger.findings if not one.last and not self.is_known(one)]

    @property
    def known_findings(self) -> int:
        """How many findings the baseline holds."""
        return sum(map(self.is_known, self.ledger.findings))

    @property
    def known_claims(self) -> frozenset[str]:
        """The texts of the claims whose findings the baseline holds."""
        return frozenset(one.claim for one in self.ledger.findings if self.is_known(one))

    @property
    def harmful(self) -> list[Claim]:
        """The stale, contradicted and unsupported claims, without those of the baseline."""
        known = self.known_claims
        return [
            claim
            for claim in self.ledger.claims
            if claim.verdict in HARMFUL and claim.text not in known
        ]

    @property
    def open(self) -> list[str]:
        """What was changed and not exercised afterwards, unless the baseline holds that."""
        about_work = [one for one in self.ledger.findings if not one.claim]
        if any(self.is_known(one) and one.target for one in about_work):
            return []
        return self.ledger.unchecked


class Verification(Struct, frozen=True):
    """All sessions of one call of `trialrun verify`."""

    sessions: Sequence[Session]
    rules: Sequence[RuleText] = ()
    problems: Sequence[str] = ()
    masked: int | None = None  # masks in its texts, once they were counted
    withheld: Withheld | None = None  # what was left out, if this is made to be shared
    # Those of the sessions, read at each iteration; empty if no report shows them.
    traces: Iterable[Trace] = ()

    @property
    def texts(self) -> Iterator[str]:
        """The texts that may quote the agent, for counting masks in them."""
        for session in self.sessions:
            for claim in (*session.ledger.claims, *session.ledger.earlier):
                yield claim.text
            for finding in session.ledger.findings:
                yield from (finding.message, finding.command)

    @property
    def summary(self) -> ComplianceSummary:
        """Counts over all sessions."""
        return summarised([session.ledger for session in self.sessions])
