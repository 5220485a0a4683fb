"""`no_stale_evidence`: evidence for claims is newer than the last change."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._ledgers import EDIT, TESTED, LedgerCheck
from trialrun.checks.base import ANSWER, check, fails, is_unknown, passes, quoted
from trialrun.model.ledger import ClaimVerdict, Ledger
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS


@check(layer="verification", needs={ANSWER, TOOL_CALLS})
class NoStaleEvidence(LedgerCheck):
    """Fails when the evidence for a claim is older than the last change of what it is about."""

    wanted: bool

    is_flag: ClassVar = True
    formula: ClassVar = "|stale| = 0"
    when_passed: ClassVar = "no claim is based on an earlier state"
    examples: ClassVar = (
        passes(True, steps=[EDIT, TESTED], answer="All 12 tests pass."),
        fails(True, steps=[EDIT, TESTED, EDIT], answer="All 12 tests pass.", because="after the"),
        is_unknown(True, answer="All tests pass.", because="no tool call"),
    )

    def decide(self, ledger: Ledger) -> CheckResult:
        if ledger.source == "text":
            return self.unknown("the run has no tool call, and text alone shows no order of events")
        stale = [claim for claim in ledger.claims if claim.verdict is ClaimVerdict.STALE]
        if not stale:
            return self.pass_result
        return self.failed("; ".join(f"{quoted([one.text])} ({one.reason})" for one in stale))
